-- name: statistics/verify_atoms
-- params: stage, atoms (tables), columns (list of {alias, levels, paths}), person (alias of the persons' numbers)
-- returns: failing bigint: finest combinations of the staged rows that are not in the table with the same rows and persons, others that are in
--   it, atoms of one person without an owner; shared bigint: owners that are several persons, or persons that are several owners
WITH f AS (
    SELECT
        COUNT(*) AS n
        , COUNT(DISTINCT s.person) AS persons
        , MIN(s.person) AS one
{% for c in columns %}
{% set i = loop.index %}
{% for level in range(c.levels) %}
        , s.v{{ i }}_{{ level }} AS v{{ i }}_{{ level }}
{% endfor %}
{% endfor %}
    FROM (
        SELECT
            t.{{ person }} AS person
{% for c in columns %}
{% set i = loop.index %}
{% for level in range(c.levels) %}
            , {% if c.paths %}CASE WHEN t.{{ c.alias }} IS NULL THEN 'n' ELSE p{{ i }}.v{{ level }} END{% else %}CASE WHEN t.{{ c.alias }} IS NULL THEN 'n' ELSE 'v' || CAST(t.{{ c.alias }} AS VARCHAR) END{% endif %} AS v{{ i }}_{{ level }}
{% endfor %}
{% endfor %}
        FROM {{ stage | table }} AS t
{% for c in columns if c.paths %}
        LEFT JOIN {{ c.paths | table }} AS p{{ c.place }} ON p{{ c.place }}.value = {{ "CAST(t.%s AS VARCHAR)" | format(c.alias) if c.as_text else "t." ~ c.alias }}
{% endfor %}
    ) AS s
    GROUP BY {% for c in columns %}{% set i = loop.index %}{% set outer = loop.first %}{% for level in range(c.levels) %}{{ ", " if not (outer and loop.first) }}s.v{{ i }}_{{ level }}{% endfor %}{% endfor %}

)
, j AS (
    SELECT f.n AS fresh, a.n AS kept, a.owner AS owner, f.one AS one, f.persons AS persons
    FROM f
    FULL JOIN {{ atoms | table }} AS a
        ON {% for c in columns %}{% set i = loop.index %}{% for level in range(c.levels) %}a.v{{ i }}_{{ level }} = f.v{{ i }}_{{ level }} AND {% endfor %}{% endfor %}a.n = f.n AND a.persons = f.persons
)
SELECT
    (SELECT COUNT(*) FROM j AS x WHERE x.fresh IS NULL OR x.kept IS NULL OR (x.persons = 1 AND x.owner < 1) OR (x.persons > 1 AND x.owner <> -1)) AS failing
    , (
        SELECT COUNT(*)
        FROM (SELECT y.owner AS owner FROM j AS y WHERE y.persons = 1 GROUP BY y.owner HAVING COUNT(DISTINCT y.one) > 1) AS p
    ) + (
        SELECT COUNT(*)
        FROM (SELECT z.one AS one FROM j AS z WHERE z.persons = 1 GROUP BY z.one HAVING COUNT(DISTINCT z.owner) > 1) AS q
    ) AS shared
