-- name: statistics/insiders
-- params: insiders (table to make), cells, inside, atoms (tables)
-- returns: owner bigint, atom bigint: the atoms of the cells in which a person is alone, also those without rows
CREATE {{ insiders | scratch }} AS
SELECT DISTINCT o.owner AS owner, i.atom AS atom
FROM (
    SELECT j.cell AS cell, MAX(a.owner) AS owner
    FROM {{ cells | table }} AS c
    JOIN {{ inside | table }} AS j ON j.cell = c.cell
    JOIN {{ atoms | table }} AS a ON a.atom = j.atom
    WHERE c.persons = 1
    GROUP BY j.cell
) AS o
JOIN {{ inside | table }} AS i ON i.cell = o.cell
