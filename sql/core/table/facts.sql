-- name: table/facts
-- params: tables (list of {seen: a frequency set (value, n), domain: of an ordered column, or none})
-- returns: place integer (in the list), distinct_values bigint (without NULL), nulls bigint (rows), singles bigint, top bigint (rows of
--   the most frequent value, NULL too), spread double (the range of the domain): one row a column, in the order of the list
{% for one in tables %}
{{ "UNION ALL" if not loop.first }}
SELECT
    CAST({{ loop.index }} AS INTEGER) AS place
    , CAST(COALESCE(SUM(CASE WHEN v.value IS NULL THEN 0 ELSE 1 END), 0) AS BIGINT) AS distinct_values
    , CAST(COALESCE(SUM(CASE WHEN v.value IS NULL THEN v.n ELSE 0 END), 0) AS BIGINT) AS nulls
    , CAST(COALESCE(SUM(CASE WHEN v.value IS NOT NULL AND v.n = 1 THEN 1 ELSE 0 END), 0) AS BIGINT) AS singles
    , CAST(COALESCE(MAX(v.n), 0) AS BIGINT) AS top
{% if one.domain %}
    , (SELECT CAST(COALESCE(MAX(d.ord), 0) AS DOUBLE) FROM {{ one.domain | table }} AS d WHERE d.value IS NOT NULL) AS spread
{% else %}
    , CAST(NULL AS DOUBLE) AS spread
{% endif %}
FROM {{ one.seen | table }} AS v
{% endfor %}
ORDER BY place
