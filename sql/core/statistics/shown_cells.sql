-- name: statistics/shown_cells
-- params: published (as statistics/published makes it)
-- returns: shown bigint, hidden bigint: how many cells
SELECT
    CAST(COALESCE(SUM(CASE WHEN p.status = 'shown' THEN 1 ELSE 0 END), 0) AS BIGINT) AS shown
    , CAST(COALESCE(SUM(CASE WHEN p.status = 'hidden' THEN 1 ELSE 0 END), 0) AS BIGINT) AS hidden
FROM {{ published | table }} AS p
