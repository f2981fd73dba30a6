-- name: table/longest
-- params: values (a frequency set of texts)
-- returns: longest bigint (characters of the longest value; 0: there is none)
SELECT CAST(COALESCE(MAX(LENGTH(v.value)), 0) AS BIGINT) AS longest
FROM {{ values | table }} AS v
