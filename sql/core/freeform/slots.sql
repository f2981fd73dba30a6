-- name: freeform/slots
-- params: slots (table)
-- returns: rid integer, slot integer
SELECT t.rid AS rid, t.slot AS slot
FROM {{ slots | table }} AS t
