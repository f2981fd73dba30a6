-- name: loss/inside
-- params: asked, upto (tables)
-- returns: one double: the sum over rows of ln (rows of the source in their interval with their sensitive value)
SELECT CAST(COALESCE(SUM(CAST(a.n AS DOUBLE) * LN(CAST(h.n - l.n AS DOUBLE))), 0) AS DOUBLE) AS bits
FROM {{ asked | table }} AS a
JOIN {{ upto | table }} AS h ON h.value = a.value AND h.code = a.high
JOIN {{ upto | table }} AS l ON l.value = a.value AND l.code = a.low - 1
