-- name: noisy/arrived
-- params: arrived (table to make), bounded (table, as noisy/bounded makes it), number (of
--   the table), night, seen (table of earlier nights, or none)
-- returns: person text (a keyed hash), cell bigint, night integer: of each person the groups
--   of the night of its first rows, which are tonight's for those that were not seen before
CREATE {{ arrived | scratch }} AS
WITH tonight AS (
    SELECT SHA256(CAST(:secret AS VARCHAR) || '/seen/{{ number }}/' || b.person) AS person, b.cell AS cell
    FROM {{ bounded | table }} AS b
)
SELECT t.person AS person, t.cell AS cell, CAST({{ night }} AS INTEGER) AS night
FROM tonight AS t
{% if seen %}
WHERE NOT EXISTS (SELECT 1 FROM {{ seen | table }} AS s WHERE s.number = {{ number }} AND s.person = t.person)
UNION ALL
SELECT s.person AS person, s.cell AS cell, s.night AS night
FROM {{ seen | table }} AS s
WHERE s.number = {{ number }}
{% endif %}
