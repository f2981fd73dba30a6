-- name: verify/distinct_rows
-- params: classed (table)
-- returns: found bigint (classed rows), different bigint (different numbers among them),
--   least integer, greatest integer
SELECT COUNT(*) AS found, COUNT(DISTINCT s.rid) AS different, MIN(s.rid) AS least, MAX(s.rid) AS greatest
FROM {{ classed | table }} AS s
