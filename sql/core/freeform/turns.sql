-- name: freeform/turns
-- params: keyed (table)
-- returns: rid integer, turn integer
SELECT k.rid AS rid, k.turn AS turn
FROM {{ keyed | table }} AS k
