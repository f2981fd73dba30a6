-- name: persons/of_kept
-- params: assigned (table to make), kept (as persons/kept makes it), classes (table of
--   person, class), person (code column of the persons in kept)
-- returns: rid integer, class integer: every kept row with the class of its person
CREATE {{ assigned | scratch }} AS
SELECT w.rid AS rid, CAST(c.class AS INTEGER) AS class
FROM {{ kept | table }} AS w
JOIN {{ classes | table }} AS c ON c.person = w.{{ person }}
