-- name: verify/rows
-- params: classed (table)
-- returns: rid integer of every classed row
SELECT s.rid AS rid
FROM {{ classed | table }} AS s
