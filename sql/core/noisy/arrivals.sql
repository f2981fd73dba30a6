-- name: noisy/arrivals
-- params: arrived (table, as noisy/arrived makes it), nodes (table of cell and l0.., the group of each level), level
-- returns: night, node, persons, all bigint: of each night and group of a level the persons whose first rows came then
SELECT CAST(a.night AS BIGINT) AS night, CAST(m.l{{ level }} AS BIGINT) AS node, COUNT(DISTINCT a.person) AS persons
FROM {{ arrived | table }} AS a
JOIN {{ nodes | table }} AS m ON m.cell = a.cell
GROUP BY a.night, m.l{{ level }}
ORDER BY night, node
