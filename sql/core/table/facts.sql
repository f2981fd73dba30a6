-- name: table/facts
-- params: values (table)
-- returns: distinct_values bigint (without NULL), nulls bigint (rows), singles bigint, top bigint (most frequent value, NULL too)
SELECT
    CAST(COALESCE(SUM(CASE WHEN v.value IS NULL THEN 0 ELSE 1 END), 0) AS BIGINT) AS distinct_values
    , CAST(COALESCE(SUM(CASE WHEN v.value IS NULL THEN v.n ELSE 0 END), 0) AS BIGINT) AS nulls
    , CAST(COALESCE(SUM(CASE WHEN v.value IS NOT NULL AND v.n = 1 THEN 1 ELSE 0 END), 0) AS BIGINT) AS singles
    , CAST(COALESCE(MAX(v.n), 0) AS BIGINT) AS top
FROM {{ values | table }} AS v
