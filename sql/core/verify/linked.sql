-- name: verify/linked
-- params: sums (table of verify/class_sums)
-- returns: what table/links returns of the rows that were summed
SELECT CAST(COALESCE(SUM(s.n), 0) AS BIGINT) AS n, CAST(COALESCE(SUM(s.links), 0) AS VARCHAR) AS mark
FROM {{ sums | table }} AS s
