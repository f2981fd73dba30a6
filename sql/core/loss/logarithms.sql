-- name: loss/logarithms
-- params: counted (table with a column n)
-- returns: one double: the sum of n ln n
SELECT CAST(COALESCE(SUM(CAST(c.n AS DOUBLE) * LN(CAST(c.n AS DOUBLE))), 0) AS DOUBLE) AS bits
FROM {{ counted | table }} AS c
WHERE c.n > 0
