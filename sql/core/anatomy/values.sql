-- name: anatomy/values
-- params: tied (table with tie), value (sensitive code column)
-- returns: rid integer, value integer: rows in their canonical order
SELECT t.rid AS rid, CAST(t.{{ value }} AS INTEGER) AS value
FROM {{ tied | table }} AS t
ORDER BY t.tie
