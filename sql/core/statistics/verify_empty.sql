-- name: statistics/verify_empty
-- params: atoms (table), columns (list of {levels}), tables (list of {columns (places, from 1)})
-- returns: failing bigint: combinations without rows that have persons or an owner, or fewer than no rows, or of
--   which a table shows that they are empty: it lists no cell with these values and the nodes above them
SELECT COUNT(*) AS failing
FROM (
    SELECT
        CASE
            WHEN a.n = 0
                AND a.persons = 0
                AND a.owner = -1
{% for t in tables %}
                AND t{{ loop.index }}.present = 1
{% endfor %}
                THEN 0
            ELSE 1
        END AS wrong
    FROM {{ atoms | table }} AS a
{% for t in tables %}
{% set number = loop.index %}
    LEFT JOIN (
        SELECT DISTINCT
            1 AS present
{% for i in t.columns %}
{% for level in range(columns[i - 1].levels) %}
            , o.v{{ i }}_{{ level }} AS v{{ i }}_{{ level }}
{% endfor %}
{% endfor %}
        FROM {{ atoms | table }} AS o
        WHERE o.n > 0
    ) AS t{{ number }} ON
{% for i in t.columns %}
{% set outer = loop.first %}
{% for level in range(columns[i - 1].levels) %}
        {{ " AND " if not (outer and loop.first) }}t{{ number }}.v{{ i }}_{{ level }} = a.v{{ i }}_{{ level }}
{% endfor %}
{% endfor %}
{% endfor %}
    WHERE a.n IS NULL OR a.n < 1
) AS g
WHERE g.wrong = 1
