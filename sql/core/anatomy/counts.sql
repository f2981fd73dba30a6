-- name: anatomy/counts
-- params: work (table), value (sensitive code column)
-- returns: code integer, n bigint: rows of every sensitive value, the buckets
SELECT CAST(w.{{ value }} AS INTEGER) AS code, COUNT(*) AS n
FROM {{ work | table }} AS w
GROUP BY w.{{ value }}
