-- name: recode/sizes
-- To count the places would take a shuffle of the classes.
SELECT COUNT(*) AS classes, COALESCE(MIN(b.n), 0) AS smallest, COALESCE(MAX(b.n), 0) AS largest, 0 AS dense, 0 AS alone
FROM {{ boxes | table }} AS b
