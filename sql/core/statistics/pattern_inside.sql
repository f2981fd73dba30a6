-- name: statistics/pattern_inside
-- params: touching (table to make), inside (table, as statistics/inside makes it), patterns, atoms (tables), whole (the column with the number of an
--   atom's finest combination)
-- returns: cell bigint, pattern bigint, persons bigint, excess bigint: the patterns with rows in a cell of few persons, how many persons have each, and by how
--   much its rows in the cell exceed one for each finest combination
CREATE {{ touching | scratch }} AS
SELECT
    i.cell AS cell
    , q.pattern AS pattern
    , MAX(q.persons) AS persons
    , CAST(SUM(q.times) AS BIGINT) - COUNT(DISTINCT a.{{ whole }}) AS excess
FROM {{ inside | table }} AS i
JOIN {{ patterns | table }} AS q ON q.atom = i.atom
JOIN {{ atoms | table }} AS a ON a.atom = q.atom
GROUP BY i.cell, q.pattern
