-- name: blocks/unsolved
-- params: solved (table of rid, block and class)
-- returns: one row: blocks whose rows have no class
SELECT COUNT(DISTINCT s.block) AS n FROM {{ solved | table }} AS s WHERE s.class < 0
