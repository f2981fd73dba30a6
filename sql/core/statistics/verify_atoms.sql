-- name: statistics/verify_atoms
-- params: keyed (table, as statistics/verify_rows makes it), atoms (table), columns (list
--   of {levels}), sums (list of {place})
-- returns: failing bigint: finest combinations of the staged rows that are not in the table with
--   the same rows, persons and sums, others with rows that are in it, atoms of one person without
--   an owner; shared bigint: owners that are several persons, or persons that are several owners
{% from "core/statistics/verify_cells.jinja" import columns_of_levels %}
WITH f AS (
    SELECT
        COUNT(*) AS n
        , COUNT(DISTINCT s.person) AS persons
{% for own in sums %}
        , SUM(s.s{{ own.place }}) AS s{{ own.place }}
{% endfor %}
        , MIN(s.person) AS one
{{ columns_of_levels(columns, "s") }}
    FROM {{ keyed | table }} AS s
    GROUP BY
{% for c in columns %}
{% set i = loop.index %}
{% set outer = loop.first %}
{% for level in range(c.levels) %}
        {{ ", " if not (outer and loop.first) }}s.v{{ i }}_{{ level }}
{% endfor %}
{% endfor %}

)
, j AS (
    SELECT f.n AS fresh, a.n AS kept, a.owner AS owner, f.one AS one, f.persons AS persons
    FROM f
    FULL JOIN (SELECT b.* FROM {{ atoms | table }} AS b WHERE b.n > 0) AS a
        ON
{% for c in columns %}
{% set i = loop.index %}
{% for level in range(c.levels) %}
        a.v{{ i }}_{{ level }} = f.v{{ i }}_{{ level }} AND
{% endfor %}
{% endfor %}
        a.n = f.n AND a.persons = f.persons{% for own in sums %} AND a.s{{ own.place }} = f.s{{ own.place }}{% endfor %}

)
SELECT
    (
        SELECT COUNT(*)
        FROM j AS x
        WHERE x.fresh IS NULL OR x.kept IS NULL OR (x.persons = 1 AND x.owner < 1) OR (x.persons > 1 AND x.owner <> -1)
    ) AS failing
    , (
        SELECT COUNT(*)
        FROM (
            SELECT y.owner AS owner
            FROM j AS y
            WHERE y.persons = 1
            GROUP BY y.owner
            HAVING COUNT(DISTINCT y.one) > 1
        ) AS p
    ) + (
        SELECT COUNT(*)
        FROM (
            SELECT z.one AS one
            FROM j AS z
            WHERE z.persons = 1
            GROUP BY z.one
            HAVING COUNT(DISTINCT z.owner) > 1
        ) AS q
    ) AS shared
