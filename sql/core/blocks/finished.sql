-- name: blocks/finished
-- params: assigned (table to make), done, solved (tables of rid and class)
-- returns: rid integer, class integer: a partition is named by the rows before it, and has
--   at least as many rows as classes
CREATE {{ assigned | scratch }} AS
SELECT d.rid AS rid, CAST(d.class AS INTEGER) AS class FROM {{ done | table }} AS d
UNION ALL
SELECT s.rid AS rid, CAST(s.class AS INTEGER) AS class FROM {{ solved | table }} AS s
