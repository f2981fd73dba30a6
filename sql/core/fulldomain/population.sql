-- name: fulldomain/population
-- params: matched (table to make), rolled (table of cells at a node), people (the
--   population at the same node), columns (code columns)
-- returns: a column per code column, n bigint (rows), population bigint (rows of the
--   population in the class), outside bigint (its rows in no class)
CREATE {{ matched | scratch }} AS
SELECT {% for c in columns %}g.{{ c }} AS {{ c }}, {% endfor %}g.n AS n, COALESCE(p.n, 0) AS population
    , CAST(w.n - SUM(COALESCE(p.n, 0)) OVER () AS BIGINT) AS outside
FROM (
    SELECT {% for c in columns %}r.{{ c }} AS {{ c }}, {% endfor %}CAST(SUM(r.n) AS BIGINT) AS n
    FROM {{ rolled | table }} AS r
    GROUP BY {% for c in columns %}{{ ", " if not loop.first }}r.{{ c }}{% endfor %}

) AS g
LEFT JOIN {{ people | table }} AS p ON
{% for c in columns %}
    {{ " AND " if not loop.first }}p.{{ c }} = g.{{ c }}
{% endfor %}
CROSS JOIN (
    SELECT CAST(SUM(a.n) AS BIGINT) AS n
    FROM {{ people | table }} AS a
) AS w
