-- name: table/unlisted
-- params: assign (table to make), listed (table of one row)
-- returns: rid integer, class integer, of the classes of all rows in the order of rid
CREATE {{ assign | scratch }} AS
SELECT CAST(u.number - 1 AS integer) AS rid, u.class AS class
FROM {{ listed | table }} AS a
CROSS JOIN unnest(a.classes) WITH ORDINALITY AS u(class, number)
