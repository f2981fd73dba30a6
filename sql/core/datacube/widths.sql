-- name: datacube/widths
-- params: spread (table)
-- returns: parts, pairs bigint: how many parts there are, and values in all of them
SELECT COUNT(DISTINCT w.part) AS parts, COUNT(*) AS pairs
FROM {{ spread | table }} AS w
