-- name: statistics/person_codes
-- params: listed (table, as statistics/person_rows makes it)
-- returns: person bigint, atom bigint, times bigint; in the order of persons and atoms
SELECT p.person AS person, p.atom AS atom, p.times AS times
FROM {{ listed | table }} AS p
ORDER BY p.person, p.atom
