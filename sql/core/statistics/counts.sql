-- name: statistics/counts
-- params: compared (table)
-- returns: shown bigint, hidden bigint: how many cells
SELECT CAST(COALESCE(SUM(1 - c.hidden), 0) AS BIGINT) AS shown, CAST(COALESCE(SUM(c.hidden), 0) AS BIGINT) AS hidden
FROM {{ compared | table }} AS c
