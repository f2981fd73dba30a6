-- name: statistics/came
-- params: atoms (table of the new rows of a version, as statistics/atoms makes it)
-- returns: came bigint: how many new rows
SELECT CAST(COALESCE(SUM(a.n), 0) AS BIGINT) AS came
FROM {{ atoms | table }} AS a
