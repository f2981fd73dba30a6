-- name: recode/values
-- params: work, assign, domain (tables), column (code column)
-- returns: class integer, ord double, n bigint, in order of class: for exact sums of floats outside SQL
SELECT a.class AS class, d.value AS value, COUNT(*) AS n
FROM {{ work | table }} AS w
JOIN {{ assign | table }} AS a ON a.rid = w.rid
JOIN {{ domain | table }} AS d ON d.code = w.{{ column }}
WHERE d.value IS NOT NULL
GROUP BY a.class, d.value, w.{{ column }}
ORDER BY a.class, w.{{ column }}
