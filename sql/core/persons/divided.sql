-- name: persons/divided
-- params: part (as persons/part makes it), assign (table of rid, class)
-- returns: person integer, class integer, by person
SELECT CAST(u.person AS INTEGER) AS person, CAST(a.class AS INTEGER) AS class
FROM {{ part | table }} AS u
JOIN {{ assign | table }} AS a ON a.rid = u.rid
ORDER BY person
