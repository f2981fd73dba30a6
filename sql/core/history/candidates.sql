-- name: history/candidates
-- params: records (table), fits (table of row, box), fits_beside (the same of the other version, or none)
-- returns: record bigint, candidate bigint: the rows that fit what is published of a
--   record, in all versions that have it; by record
SELECT r.row AS record, a.row AS candidate
FROM {{ records | table }} AS r
JOIN {{ fits | table }} AS a ON a.box = r.place
{% if fits_beside %}
JOIN {{ fits_beside | table }} AS b ON b.box = r.beside AND b.row = a.row
{% endif %}
ORDER BY r.row, a.row
