-- name: blocks/finished
-- params: assigned (table to make), done (table of rid and class), solved (table of rid, block, and class, numbered within the block)
-- returns: rid integer, class integer: a block is named by the rows before it, and has at least as many rows as classes
CREATE {{ assigned | scratch }} AS
SELECT d.rid AS rid, CAST(d.class AS INTEGER) AS class FROM {{ done | table }} AS d
UNION ALL
SELECT s.rid AS rid, CAST(s.block + s.class AS INTEGER) AS class FROM {{ solved | table }} AS s
