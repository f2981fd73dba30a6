-- name: recode/sizes
-- params: boxes, released (tables), groups ({table, key, group}: of released)
-- returns: classes bigint, smallest bigint, largest bigint, dense integer (1: the released
--   classes are 0, 1, 2, .., each once; 0 also where nobody uses that), alone integer (1: no two
--   classes publish the same; 0 also where nobody looked)
SELECT COUNT(*) AS classes, COALESCE(MIN(b.n), 0) AS smallest, COALESCE(MAX(b.n), 0) AS largest, 0 AS dense
    , CASE
        WHEN COUNT(*) = (SELECT COUNT(DISTINCT r.{{ groups.group }}) FROM {{ released | table }} AS r) THEN 1
        ELSE 0
    END AS alone
FROM {{ boxes | table }} AS b
