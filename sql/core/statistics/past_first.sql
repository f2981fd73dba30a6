-- name: statistics/past_first
-- params: atoms (as statistics/past_atoms makes it)
-- returns: first bigint: the first version of all; 0: the table is empty
SELECT CAST(COALESCE(MIN(a.batch), 0) AS BIGINT) AS first
FROM {{ atoms | table }} AS a
