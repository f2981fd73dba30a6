-- name: statistics/past_atoms
-- params: made (table to make), past (such a table of the version before, or none), atoms (private atoms
--   with batches, or none), batches (of these, the versions whose own rows they are), newcomers (table,
--   as statistics/atoms makes it), batch (number of the version), empty (bool: without rows), columns
--   (list of {levels}), parts (names of columns that the atoms of the first version have where these are
--   parts, see statistics/part_atoms; else none), placed (bool: the private atoms have these columns)
-- returns: the finest combinations of the rows of each version, and of those that are new: atom
--   bigint (a number, from 1), batch bigint, keys, n and persons bigint, whole bigint (the first
--   atom of the combination, which alone has its persons), owner bigint (whole, of a combination
--   of a single person; -1: several persons), and parts, NULL where an atom is no part
{% macro keys(of) %}
{% for c in columns %}
{% set i = loop.index %}
{% for level in range(c.levels) %}
, {{ of }}.v{{ i }}_{{ level }} AS v{{ i }}_{{ level }}
{% endfor %}
{% endfor %}
{% endmacro %}
{% macro some(of, has) %}
{% for name in parts %}
, {% if has %}{{ of }}.{{ name }}{% else %}CAST(NULL AS BIGINT){% endif %} AS {{ name }}
{% endfor %}
{% endmacro %}
CREATE {{ made | scratch }} AS
SELECT
    h.atom AS atom
    , h.batch AS batch
    , h.n AS n
    , CASE WHEN h.atom = h.whole THEN h.persons ELSE 0 END AS persons
    , h.whole AS whole
    , CASE WHEN h.persons = 1 THEN h.whole ELSE -1 END AS owner{{ keys("h") }}{{ some("h", True) }}
FROM (
    SELECT g.*
        , MIN(g.atom) OVER (PARTITION BY g.batch{% for c in columns %}, g.v{{ loop.index }}_0{% endfor %}) AS whole
    FROM (
        SELECT
            ROW_NUMBER() OVER (ORDER BY u.batch, u.atom) AS atom
            , u.batch AS batch
            , u.n AS n
            , MAX(u.persons) OVER (
                PARTITION BY u.batch{% for c in columns %}, u.v{{ loop.index }}_0{% endfor %}
            ) AS persons{{ keys("u") }}{{ some("u", True) }}
        FROM (
{% if past %}
            SELECT p.batch AS batch, p.atom AS atom, p.n AS n, p.persons AS persons{{ keys("p") }}{{ some("p", True) }}
            FROM {{ past | table }} AS p
            UNION ALL
{% endif %}
{% if atoms and batches %}
            SELECT
                b.batch AS batch
                , b.atom AS atom
                , b.n AS n
                , b.persons AS persons{{ keys("b") }}{{ some("b", placed) }}
            FROM {{ atoms | table }} AS b
            WHERE b.batch IN ({{ batches | join(", ") }})
            UNION ALL
{% endif %}
            SELECT
                CAST({{ batch }} AS BIGINT) AS batch
                , c.atom AS atom
                , c.n AS n
                , c.persons AS persons{{ keys("c") }}{{ some("c", False) }}
            FROM {{ newcomers | table }} AS c
{% if empty %}
            WHERE 1 = 0
{% endif %}
        ) AS u
    ) AS g
) AS h
