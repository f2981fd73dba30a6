-- name: persons/assigned
-- params: assigned (table to make), work, units (tables), assign (table of rid and class,
--   one row of each of units), person (code column of the persons in work)
-- returns: rid integer, class integer: every row with the class of its person
CREATE {{ assigned | scratch }} AS
SELECT w.rid AS rid, c.class AS class
FROM {{ work | table }} AS w
JOIN (
    SELECT u.person AS person, a.class AS class
    FROM {{ units | table }} AS u
    JOIN {{ assign | table }} AS a ON a.rid = u.rid
) AS c ON c.person = w.{{ person }}
