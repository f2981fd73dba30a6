-- name: loss/left_out
-- params: domain (table of a sensitive column), histogram (table)
-- returns: one double: the sum over the rows without a class of ln (rows of the source with their sensitive value)
SELECT CAST(COALESCE(SUM(CAST(d.n - COALESCE(h.n, 0) AS DOUBLE) * LN(CAST(d.n AS DOUBLE))), 0) AS DOUBLE) AS bits
FROM {{ domain | table }} AS d
LEFT JOIN (
    SELECT v.value AS value, CAST(SUM(v.n) AS BIGINT) AS n
    FROM {{ histogram | table }} AS v
    GROUP BY v.value
) AS h ON h.value = d.code
WHERE d.n > 0
