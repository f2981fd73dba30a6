-- name: noisy/persons
-- params: bounded (table, as noisy/bounded makes it), nodes (table of cell and l0.., the group of each level), level
-- returns: node, persons, both bigint: distinct persons of each group of a level
SELECT CAST(m.l{{ level }} AS BIGINT) AS node, COUNT(DISTINCT b.person) AS persons
FROM {{ bounded | table }} AS b
JOIN {{ nodes | table }} AS m ON m.cell = b.cell
GROUP BY m.l{{ level }}
ORDER BY node
