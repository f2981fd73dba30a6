-- name: noisy/new_seen
-- params: arrived (table, as noisy/arrived makes it), number (of the table), night
-- returns: number, person, cell, night: the persons of a night, who are seen from now on
SELECT {{ number }} AS number, a.person AS person, a.cell AS cell, a.night AS night
FROM {{ arrived | table }} AS a
WHERE a.night = {{ night }}
