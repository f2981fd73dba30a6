-- name: blocks/solved
-- params: solved (table of rid and class)
-- returns: one row: n bigint (rows), unsolved bigint (blocks whose rows have no class)
SELECT COUNT(*) AS n, COUNT(DISTINCT CASE WHEN s.class < 0 THEN s.class END) AS unsolved FROM {{ solved | table }} AS s
