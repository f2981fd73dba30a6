-- name: suppress/rest
-- params: made (table to make), assign (table), rest (table: the residue's rows and their
--   classes), number (class of the residue, the last)
-- returns: rid integer, class integer: the classes of assign, and those of rest after them
CREATE {{ made | scratch }} AS
SELECT a.rid AS rid, a.class AS class
FROM {{ assign | table }} AS a
WHERE a.class <> {{ number }}
UNION ALL
SELECT r.rid AS rid, CAST(r.class + {{ number }} AS INTEGER) AS class
FROM {{ rest | table }} AS r
