-- name: verify/distinct_rows
-- Each number is a bit of the number of 64 bits that it shares with its neighbours: tasks
-- send these, where COUNT(DISTINCT ..) would send every row. A negative number has a place
-- as well; NULL has none, and is not counted among the different ones.
SELECT
    COALESCE(SUM(b.n), 0) AS found
    , COALESCE(SUM(BIT_COUNT(b.bits)), 0) AS different
    , MIN(b.least) AS least
    , MAX(b.greatest) AS greatest
FROM (
    SELECT COUNT(*) AS n, BIT_OR(SHIFTLEFT(1L, s.rid & 63)) AS bits, MIN(s.rid) AS least, MAX(s.rid) AS greatest
    FROM {{ classed | table }} AS s
    GROUP BY SHIFTRIGHT(s.rid, 6)
) AS b
