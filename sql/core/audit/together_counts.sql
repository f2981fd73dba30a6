-- name: audit/together_counts
-- params: records (table)
-- returns: matched bigint: rows that both releases hold
SELECT COUNT(*) AS matched
FROM {{ records | table }} AS r
WHERE r.place >= 0 AND r.beside >= 0
