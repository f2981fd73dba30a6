-- name: recode/sizes
-- params: boxes, released (tables)
-- returns: classes bigint, smallest bigint, largest bigint, dense integer (1: the released
--   classes are 0, 1, 2, .., each once; 0 also where nobody uses that)
SELECT COUNT(*) AS classes, COALESCE(MIN(b.n), 0) AS smallest, COALESCE(MAX(b.n), 0) AS largest, 0 AS dense
FROM {{ boxes | table }} AS b
