-- name: verify/rows
-- params: classed (table)
-- returns: n bigint, staged bigint (distinct row ids): both must be the staged rows, each once
SELECT COUNT(*) AS n, COUNT(DISTINCT s.rid) AS staged
FROM {{ classed | table }} AS s
