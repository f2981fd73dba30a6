-- name: freeform/misnumbered
-- params: slots (table of rid, slot), work (table of rid and codes, made of the originals
--   anew), keyed (table of freeform/keyed, likewise), codes (its QI code columns)
-- returns: wrong bigint: rows whose slot is not their place in the order of quasi values
--   and keyed hashes, or that have none
SELECT COUNT(*) AS wrong
FROM (
    SELECT w.rid AS rid
        , ROW_NUMBER() OVER (
            ORDER BY {% for c in codes %}w.{{ c }}, {% endfor %}h.link_key, h.turn_key, w.rid
        ) - 1 AS place
    FROM {{ work | table }} AS w
    JOIN {{ keyed | table }} AS h ON h.rid = w.rid
) AS o
LEFT JOIN {{ slots | table }} AS t ON t.rid = o.rid
WHERE t.slot IS NULL OR t.slot <> o.place
