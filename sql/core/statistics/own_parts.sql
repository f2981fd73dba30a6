-- name: statistics/own_parts
-- params: own (table to make), inside, insiders, atoms (tables), counted (n or persons),
--   whole (the column with the number of an atom's finest combination)
-- returns: cell bigint, owner bigint, excess bigint: by how much an insider's own part of
--   a cell exceeds one for each atom with rows, or -1 where the cell is all his
CREATE {{ own | scratch }} AS
SELECT p.cell AS cell, p.owner AS owner, CASE WHEN p.atoms = t.atoms THEN -1 ELSE p.excess END AS excess
FROM (
    SELECT
        i.cell AS cell
        , s.owner AS owner
        , COUNT(*) AS atoms
        , CAST(SUM(a.{{ counted }}) AS BIGINT) - COUNT(DISTINCT CASE WHEN a.n > 0 THEN a.{{ whole }} END) AS excess
    FROM {{ inside | table }} AS i
    JOIN {{ insiders | table }} AS s ON s.atom = i.atom
    JOIN {{ atoms | table }} AS a ON a.atom = i.atom
    GROUP BY i.cell, s.owner
) AS p
JOIN (
    SELECT i.cell AS cell, COUNT(*) AS atoms
    FROM {{ inside | table }} AS i
    GROUP BY i.cell
) AS t ON t.cell = p.cell
