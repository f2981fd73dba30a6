-- name: blocks/places
-- params: places (table to make), keyed (table of rid, part and keys), size (rows of a block)
-- returns: part integer, before bigint: how many rows are in parts before it; first, last bigint: the blocks of its first and its last row, each named by how many rows are
--   before the block
CREATE {{ places | scratch }} AS
SELECT
    p.part AS part
    , p.before AS before
    , p.before - MOD(p.before, {{ size }}) AS first
    , p.before + p.n - 1 - MOD(p.before + p.n - 1, {{ size }}) AS last
FROM (
    SELECT c.part AS part, c.n AS n, CAST(SUM(c.n) OVER (ORDER BY c.part ROWS UNBOUNDED PRECEDING) - c.n AS BIGINT) AS before
    FROM (SELECT k.part AS part, COUNT(*) AS n FROM {{ keyed | table }} AS k GROUP BY k.part) AS c
) AS p
