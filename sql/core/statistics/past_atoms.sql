-- name: statistics/past_atoms
-- params: made (table to make), past (such a table of the version before, or none), atoms (private atoms with batches, or none), batches (of these, the
--   versions whose own rows they are), newcomers (table, as statistics/atoms makes it), batch (number of the version), empty (bool: without rows),
--   columns (list of {levels})
-- returns: the finest combinations of the rows of each version, and of those that are new: atom bigint (a number, from 1), batch bigint, keys, n and persons
--   bigint, owner bigint (another number for each single person; -1: several persons)
{% macro keys(of) %}{% for c in columns %}{% set i = loop.index %}{% for level in range(c.levels) %}, {{ of }}.v{{ i }}_{{ level }} AS v{{ i }}_{{ level }}{% endfor %}{% endfor %}{% endmacro %}
CREATE {{ made | scratch }} AS
SELECT
    g.atom AS atom
    , g.batch AS batch
    , g.n AS n
    , g.persons AS persons
    , CASE WHEN g.persons = 1 THEN g.atom ELSE -1 END AS owner{{ keys("g") }}
FROM (
    SELECT
        ROW_NUMBER() OVER (ORDER BY u.batch, u.atom) AS atom
        , u.batch AS batch
        , u.n AS n
        , u.persons AS persons{{ keys("u") }}
    FROM (
{% if past %}
        SELECT p.batch AS batch, p.atom AS atom, p.n AS n, p.persons AS persons{{ keys("p") }}
        FROM {{ past | table }} AS p
        UNION ALL
{% endif %}
{% if atoms and batches %}
        SELECT b.batch AS batch, b.atom AS atom, b.n AS n, b.persons AS persons{{ keys("b") }}
        FROM {{ atoms | table }} AS b
        WHERE b.batch IN ({{ batches | join(", ") }})
        UNION ALL
{% endif %}
        SELECT CAST({{ batch }} AS BIGINT) AS batch, c.atom AS atom, c.n AS n, c.persons AS persons{{ keys("c") }}
        FROM {{ newcomers | table }} AS c
{% if empty %}
        WHERE 1 = 0
{% endif %}
    ) AS u
) AS g
