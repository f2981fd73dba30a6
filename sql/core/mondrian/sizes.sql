-- name: mondrian/sizes
-- params: items (table)
-- returns: parts bigint, largest bigint (rows of the largest open partition)
SELECT COUNT(*) AS parts, CAST(COALESCE(MAX(g.n), 0) AS BIGINT) AS largest
FROM (SELECT SUM(i.n) AS n FROM {{ items | table }} AS i GROUP BY i.part) AS g
