-- name: recode/found_labels
-- params: found (table), leveled (bool)
-- returns: low integer, high integer, label text; if leveled also at integer
SELECT f.low AS low, f.high AS high, f.label AS label{% if leveled %}, f.at AS at{% endif %}

FROM {{ found | table }} AS f
