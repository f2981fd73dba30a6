-- name: statistics/verify_branches
-- params: atoms (table of parts), column ({place, leaves (table of leaf and, from the
--   leaves up, p0, p1, .., the nodes), levels (how many)})
-- returns: failing bigint: parts of a class outside of the lowest node with all rows of
--   the class, or whose rank is not the node below it
{% set top = column.levels - 1 %}
WITH n AS (
    SELECT
        a.class AS class
        , a.n AS n
        , a.r{{ column.place }} AS branch
{% for level in range(column.levels) %}
        , {% if level == top %}1{% else %}COALESCE(x.p{{ level }}, 0){% endif %} AS p{{ level }}
{% endfor %}
    FROM {{ atoms | table }} AS a
    LEFT JOIN {{ column.leaves | table }} AS x ON x.leaf = a.v{{ column.place }}_0
    WHERE a.class >= 0
)
, e AS (
    SELECT
        n.class AS class
{% for level in range(column.levels) %}
        , MIN(n.p{{ level }}) AS low{{ level }}
        , MAX(n.p{{ level }}) AS high{{ level }}
{% endfor %}
    FROM n
    WHERE n.n > 0
    GROUP BY n.class
)
SELECT COUNT(*) AS failing
FROM n
JOIN e ON e.class = n.class
WHERE CASE
{% for level in range(column.levels) %}
    WHEN e.low{{ level }} = e.high{{ level }}
        THEN CASE
            WHEN n.p{{ level }} = e.low{{ level }} AND n.branch = n.p{{ level - 1 if level else 0 }} THEN 0
            ELSE 1
        END
{% endfor %}
    ELSE 1
END = 1
