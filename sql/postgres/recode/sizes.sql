-- name: recode/sizes
-- params: boxes, released (tables)
-- returns: classes bigint, smallest bigint, largest bigint, dense integer (1: the released classes are 0, 1, 2, .., each once; 0 also where
--   nobody uses that)
SELECT COUNT(*) AS classes, COALESCE(MIN(b.n), 0) AS smallest, COALESCE(MAX(b.n), 0) AS largest, (
    SELECT CASE WHEN COUNT(*) = COUNT(DISTINCT r._sqlanon_class) AND MIN(r._sqlanon_class) = 0 AND MAX(r._sqlanon_class) = COUNT(*) - 1 THEN 1 ELSE 0 END
    FROM {{ released | table }} AS r
) AS dense
FROM {{ boxes | table }} AS b
