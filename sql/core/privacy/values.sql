-- name: privacy/values
-- params: domain (table of code, value)
-- returns: code integer, rank bigint (0, 1, .. by ascending values, NULL first), text of the value, or NULL
SELECT d.code AS code, ROW_NUMBER() OVER (ORDER BY d.value NULLS FIRST) - 1 AS rank, CAST(d.value AS VARCHAR) AS label
FROM {{ domain | table }} AS d
