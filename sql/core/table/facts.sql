-- name: table/facts
-- params: tables (list of {seen: a frequency set (value, n), or a domain, which is one,
--   ord: bool: the domain of an ordered column})
-- returns: place integer (in the list), distinct_values bigint (without NULL), nulls
--   bigint (rows), singles bigint, top bigint (rows of the most frequent value, NULL too),
--   spread double (the range of the domain): one row a column that has values
SELECT
    f.place AS place
    , CAST(SUM(f.filled) AS BIGINT) AS distinct_values
    , CAST(SUM(f.n - f.n * f.filled) AS BIGINT) AS nulls
    , CAST(SUM(CASE WHEN f.n = 1 THEN f.filled ELSE 0 END) AS BIGINT) AS singles
    , MAX(f.n) AS top
    , MAX(f.ord) AS spread
FROM (
{% for one in tables %}
{{ "UNION ALL" if not loop.first }}
    SELECT
        {{ loop.index }} AS place
        , v.n AS n
        , CASE WHEN v.value IS NULL THEN 0 ELSE 1 END AS filled
        , {{ "v.ord" if one.ord else "CAST(NULL AS DOUBLE)" }} AS ord
    FROM {{ one.seen | table }} AS v
{% endfor %}
) AS f
GROUP BY f.place
