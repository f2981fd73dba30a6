-- name: recode/found_labels
-- params: found (table)
-- returns: low integer, high integer, label text
SELECT f.low AS low, f.high AS high, f.label AS label
FROM {{ found | table }} AS f
