-- name: statistics/person_rows
-- params: listed (table to make), rows (table, as statistics/rows makes it)
-- returns: person bigint, atom bigint, times bigint: how many rows a person has of each finest combination
CREATE {{ listed | scratch }} AS
SELECT r.person AS person, r.atom AS atom, COUNT(*) AS times
FROM {{ rows | table }} AS r
GROUP BY r.person, r.atom
