-- name: blocks/places
-- params: places (table to make), keyed (table of rid, part and keys)
-- returns: part integer, before bigint: how many rows are in parts before it
CREATE {{ places | scratch }} AS
SELECT c.part AS part, CAST(SUM(c.n) OVER (ORDER BY c.part ROWS UNBOUNDED PRECEDING) - c.n AS BIGINT) AS before
FROM (SELECT k.part AS part, COUNT(*) AS n FROM {{ keyed | table }} AS k GROUP BY k.part) AS c
