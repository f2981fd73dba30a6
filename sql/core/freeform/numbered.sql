-- name: freeform/numbered
-- params: slots (table to make), work (table of rid and codes), keyed (table of
--   freeform/keyed), codes (its QI code columns)
-- returns: rid integer, slot integer (0, 1, ..): the rows in the order of their quasi
--   values, and equal ones in that of the keyed hashes
CREATE {{ slots | scratch }} AS
SELECT w.rid AS rid
    , CAST(ROW_NUMBER() OVER (
        ORDER BY {% for c in codes %}w.{{ c }}, {% endfor %}h.link_key, h.turn_key, w.rid
    ) - 1 AS INTEGER) AS slot
FROM {{ work | table }} AS w
JOIN {{ keyed | table }} AS h ON h.rid = w.rid
