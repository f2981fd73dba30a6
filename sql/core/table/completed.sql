-- name: table/completed
-- params: completed (table to make), rows, assign (tables of rid, ..)
-- returns: rid integer, class integer: every row, with the class -1 where the assignment has none
CREATE {{ completed | scratch }} AS
SELECT w.rid AS rid, COALESCE(a.class, -1) AS class
FROM {{ rows | table }} AS w
LEFT JOIN {{ assign | table }} AS a ON a.rid = w.rid
