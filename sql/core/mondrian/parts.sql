-- name: mondrian/parts
-- params: items (table)
-- returns: part bigint, n bigint of every open partition, in order
SELECT i.part AS part, CAST(SUM(i.n) AS BIGINT) AS n
FROM {{ items | table }} AS i
GROUP BY i.part
ORDER BY i.part
