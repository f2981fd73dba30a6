-- name: statistics/insiders
-- params: insiders (table to make), cells, inside, atoms (tables)
-- returns: owner bigint, atom bigint: the atoms of the cells in which a person is alone
CREATE {{ insiders | scratch }} AS
SELECT DISTINCT a.owner AS owner, i.atom AS atom
FROM {{ cells | table }} AS c
JOIN {{ inside | table }} AS i ON i.cell = c.cell
JOIN {{ atoms | table }} AS a ON a.atom = i.atom
WHERE c.persons = 1
