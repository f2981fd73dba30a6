-- name: statistics/verify_able
-- params: every (table, as statistics/able_atoms makes it), atoms, able (tables), columns
--   (list of {levels}), tables (list of {columns (places, from 1)})
-- returns: failing bigint: combinations of a cell that a table does not list, and so of
--   which readers know that it is empty; others that have a value of none, or of several
SELECT CAST(SUM(f.failing) AS BIGINT) AS failing
FROM (
    SELECT
        ABS(
            (SELECT COUNT(*) FROM {{ atoms | table }} AS a) + (SELECT COUNT(*) FROM {{ able | table }} AS b)
            - (SELECT COUNT(*) FROM {{ every | table }} AS c)
        ) AS failing
{% for c in columns %}
    UNION ALL
    SELECT COUNT(*) AS failing
    FROM {{ able | table }} AS h
    LEFT JOIN {{ atoms | table }} AS x ON x.atom = h.a{{ loop.index }}
    WHERE x.atom IS NULL
{% endfor %}
{% for t in tables %}
    UNION ALL
    SELECT COUNT(*) AS failing
    FROM {{ every | table }} AS e
    LEFT JOIN (
        SELECT DISTINCT
{% for i in t.columns %}
{% set outer = loop.first %}
{% for level in range(columns[i - 1].levels) %}
            {{ ", " if not (outer and loop.first) }}o.v{{ i }}_{{ level }} AS v{{ i }}_{{ level }}
{% endfor %}
{% endfor %}
        FROM {{ atoms | table }} AS o
    ) AS d
        ON
{% for i in t.columns %}
{% set outer = loop.first %}
{% for level in range(columns[i - 1].levels) %}
            {{ " AND " if not (outer and loop.first) }}d.v{{ i }}_{{ level }} = e.v{{ i }}_{{ level }}
{% endfor %}
{% endfor %}
    WHERE d.v{{ t.columns[0] }}_0 IS NULL
{% endfor %}
) AS f
