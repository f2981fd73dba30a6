-- name: blocks/solved
-- params: solved (table of rid and class, or of class and n: the rows of each), counted (bool: it is the latter)
-- returns: one row: n bigint (rows), unsolved bigint (blocks whose rows have no class)
SELECT
    {{ "CAST(COALESCE(SUM(s.n), 0) AS BIGINT)" if counted else "COUNT(*)" }} AS n
    , COUNT(DISTINCT CASE WHEN s.class < 0 THEN s.class END) AS unsolved
FROM {{ solved | table }} AS s
