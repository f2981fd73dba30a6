-- name: recode/sizes
-- params: boxes (table)
-- returns: classes bigint, smallest bigint, largest bigint
SELECT COUNT(*) AS classes, COALESCE(MIN(b.n), 0) AS smallest, COALESCE(MAX(b.n), 0) AS largest
FROM {{ boxes | table }} AS b
