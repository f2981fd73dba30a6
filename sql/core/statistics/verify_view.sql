-- name: statistics/verify_view
-- params: compared (as statistics/compared makes it)
-- returns: missing bigint (cells that are not published), unknown bigint (rows that are no
--   cell), twice bigint (cells that are published twice), wrong bigint (rows that
--   contradict their cell), small_shown bigint (small cells that are shown)
SELECT
    (SELECT COUNT(*) FROM {{ compared | table }} AS a WHERE a.times IS NULL) AS missing
    , (SELECT COUNT(*) FROM {{ compared | table }} AS b WHERE b.cell IS NULL) AS unknown
    , (SELECT COUNT(c.cell) - COUNT(DISTINCT c.cell) FROM {{ compared | table }} AS c) AS twice
    , (SELECT COUNT(*) FROM {{ compared | table }} AS d WHERE d.wrong = 1) AS wrong
    , (SELECT COUNT(*) FROM {{ compared | table }} AS e WHERE e.small = 1 AND e.hidden = 0) AS small_shown
