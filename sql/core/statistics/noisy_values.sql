-- name: statistics/noisy_values
-- params: noise (table)
-- returns: result bigint: the number with noise of each cell, in their order
SELECT n.value + n.change AS result
FROM {{ noise | table }} AS n
ORDER BY n.cell
