-- name: noisy/arrived_again
-- params: bounded (table, as noisy/bounded makes it), number (of the table), seen (table of earlier nights, or none)
-- returns: cell, persons, both bigint, by cell: tonight's persons less those that were
--   seen before, for cells that have any left
SELECT b.cell AS cell, COUNT(*){% if seen %} - COUNT(s.person){% endif %} AS persons
FROM {{ bounded | table }} AS b
{% if seen %}
LEFT JOIN (SELECT k.person AS person FROM {{ seen | table }} AS k WHERE k.number = {{ number }} GROUP BY k.person) AS s
    ON s.person = SHA256(CAST(:secret AS VARCHAR) || '/seen/{{ number }}/' || b.person)
{% endif %}
GROUP BY b.cell
{% if seen %}
HAVING COUNT(*) > COUNT(s.person)
{% endif %}
ORDER BY b.cell
