-- name: freeform/codes
-- params: slots (table of rid, slot), work (table of rid and codes), codes (its QI code columns)
-- returns: slot, then the codes, all integer, in no order
SELECT t.slot AS slot{% for c in codes %}, CAST(w.{{ c }} AS INTEGER) AS {{ c }}{% endfor %}

FROM {{ work | table }} AS w
JOIN {{ slots | table }} AS t ON t.rid = w.rid
