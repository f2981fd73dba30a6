-- name: blocks/classes
-- params: assigned (table to make), solved (table of rid, block, and class, numbered within the block)
-- returns: rid integer, class integer: the classes of a block follow those of the one before
CREATE {{ assigned | scratch }} AS
SELECT s.rid AS rid, CAST(s.class + o.before AS INTEGER) AS class
FROM {{ solved | table }} AS s
JOIN (
    SELECT b.block AS block, SUM(b.n) OVER (ORDER BY b.block ROWS UNBOUNDED PRECEDING) - b.n AS before
    FROM (SELECT t.block AS block, MAX(t.class) + 1 AS n FROM {{ solved | table }} AS t GROUP BY t.block) AS b
) AS o ON o.block = s.block
