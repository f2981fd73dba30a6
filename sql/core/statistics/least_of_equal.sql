-- name: statistics/least_of_equal
-- params: raised (table to make), least (table, as statistics/least makes it), inside
--   (table, as statistics/inside makes it)
-- returns: cell bigint, least bigint: of cells that have the same finest combinations, such as a ward in a table of
--   regions and wards and the same ward in a table of wards and diagnoses, the most of all: they have the same number
CREATE {{ raised | scratch }} AS
WITH sizes AS (
    SELECT i.cell AS cell, COUNT(*) AS many, MIN(i.atom) AS low
    FROM {{ inside | table }} AS i
    GROUP BY i.cell
)
, same AS (
    SELECT a.cell AS cell, b.cell AS other
    FROM sizes AS a
    JOIN sizes AS b ON b.low = a.low AND b.many = a.many AND b.cell <> a.cell
    JOIN {{ inside | table }} AS x ON x.cell = a.cell
    JOIN {{ inside | table }} AS y ON y.cell = b.cell AND y.atom = x.atom
    GROUP BY a.cell, b.cell, a.many
    HAVING COUNT(*) = a.many
)
SELECT l.cell AS cell, MAX(CASE WHEN o.least > l.least THEN o.least ELSE l.least END) AS least
FROM {{ least | table }} AS l
LEFT JOIN same AS e ON e.cell = l.cell
LEFT JOIN {{ least | table }} AS o ON o.cell = e.other
GROUP BY l.cell
