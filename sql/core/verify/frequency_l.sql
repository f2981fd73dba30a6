-- name: verify/frequency_l
-- params: target (table), classes (column names), within (other sensitive columns, for joint),
--   sensitive (column name), count (column with the number of rows that each represents, or none)
-- returns: total bigint, top bigint (of the class with the least total / top), failing
--   bigint (classes where top * p > total * q)
SELECT
    g.total AS total
    , g.top AS top
    , CAST(
        SUM(CASE WHEN g.top * CAST(:p AS BIGINT) > g.total * CAST(:q AS BIGINT) THEN 1 ELSE 0 END) OVER () AS BIGINT
    ) AS failing
FROM (
    SELECT
        CAST(SUM(v.n) AS BIGINT) AS total
        , CAST(MAX(v.n) AS BIGINT) AS top
    FROM (
        SELECT
{% for name in classes + within %}
            t.{{ name | ident }} AS g{{ loop.index }},
{% endfor %}
            {{ "SUM(t." ~ (count | ident) ~ ")" if count else "COUNT(*)" }} AS n
        FROM {{ target | table }} AS t
        GROUP BY {% for name in classes + within %}t.{{ name | ident }}, {% endfor %}t.{{ sensitive | ident }}
    ) AS v
{% if classes + within %}
    GROUP BY {% for name in classes + within %}{{ ", " if not loop.first }}v.g{{ loop.index }}{% endfor %}
{% endif %}
) AS g
ORDER BY CAST(g.total AS DOUBLE) / CAST(g.top AS DOUBLE), g.total
LIMIT 1
