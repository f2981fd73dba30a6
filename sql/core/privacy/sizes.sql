-- name: privacy/sizes
-- params: sizes (table of n and total)
-- returns: n bigint: every number of rows that is there, once
SELECT s.n AS n
FROM {{ sizes | table }} AS s
UNION
SELECT s.total AS n
FROM {{ sizes | table }} AS s
