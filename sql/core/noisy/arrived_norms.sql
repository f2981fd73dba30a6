-- name: noisy/arrived_norms
-- params: arrived (table, as noisy/arrived makes it), nodes (table of cell and l0.., the
--   group of each level), level, most (groups of a person), night
-- returns: how many persons arrive in several nights, after the last night, or in more
--   groups of a level than are counted
SELECT COUNT(*)
FROM (
    SELECT a.person AS person
    FROM {{ arrived | table }} AS a
    LEFT JOIN {{ nodes | table }} AS m ON m.cell = a.cell
    GROUP BY a.person
    HAVING MIN(a.night) < MAX(a.night) OR MIN(a.night) < 1 OR MAX(a.night) > {{ night }}
        OR COUNT(DISTINCT m.l{{ level }}) > {{ most }} OR COUNT(*) > COUNT(m.cell)
) AS violated
