-- name: recode/range
-- params: domain (table)
-- returns: spread double: the range of an ordered domain
SELECT CAST(COALESCE(MAX(d.ord), 0) AS DOUBLE) AS spread
FROM {{ domain | table }} AS d
WHERE d.value IS NOT NULL
