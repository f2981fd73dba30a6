-- name: verify/k_anonymity
-- params: target (table), classes (column names that make the classes; may be empty),
--   count (column with the number of rows that each represents, or none)
-- returns: classes bigint, reached bigint (smallest class), largest bigint, singles bigint
--   (classes of one row), n bigint, failing bigint
SELECT
    COUNT(*) AS classes
    , CAST(COALESCE(MIN(g.n), 0) AS BIGINT) AS reached
    , CAST(COALESCE(MAX(g.n), 0) AS BIGINT) AS largest
    , CAST(COALESCE(SUM(CASE WHEN g.n = 1 THEN 1 ELSE 0 END), 0) AS BIGINT) AS singles
    , CAST(COALESCE(SUM(g.n), 0) AS BIGINT) AS n
    , CAST(COALESCE(SUM(CASE WHEN g.n < :asked THEN 1 ELSE 0 END), 0) AS BIGINT) AS failing
FROM (
    SELECT {{ "SUM(t." ~ (count | ident) ~ ")" if count else "COUNT(*)" }} AS n
    FROM {{ target | table }} AS t
{% if classes %}
    GROUP BY {% for name in classes %}{{ ", " if not loop.first }}t.{{ name | ident }}{% endfor %}
{% endif %}
) AS g
