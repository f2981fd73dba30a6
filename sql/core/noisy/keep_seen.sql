-- name: noisy/keep_seen
-- params: seen (table), arrived (table, as noisy/arrived makes it), number (of the table), night
-- returns: nothing; the persons of a night are seen from now on
INSERT INTO {{ seen | table }} (number, person, cell, night)
SELECT {{ number }}, a.person, a.cell, a.night
FROM {{ arrived | table }} AS a
WHERE a.night = {{ night }}
