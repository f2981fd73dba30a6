-- name: recode/values
-- params: classed, domain (tables), column (code column)
-- returns: class integer, ord double, n bigint, in order of class: for exact sums of floats outside SQL
SELECT w.class AS class, d.value AS value, COUNT(*) AS n
FROM {{ classed | table }} AS w
JOIN {{ domain | table }} AS d ON d.code = w.{{ column }}
WHERE d.value IS NOT NULL
GROUP BY w.class, d.value, w.{{ column }}
ORDER BY w.class, w.{{ column }}
