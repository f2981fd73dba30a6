-- name: statistics/pattern_inside
-- params: touching (table to make), inside (table, as statistics/inside makes it), patterns (table)
-- returns: cell bigint, pattern bigint, persons bigint, excess bigint: the patterns with rows in
--   a cell of few persons, how many persons have each, and its rows in the cell beyond the first
CREATE {{ touching | scratch }} AS
SELECT
    i.cell AS cell
    , q.pattern AS pattern
    , MAX(q.persons) AS persons
    , CAST(SUM(q.times) AS BIGINT) - 1 AS excess
FROM {{ inside | table }} AS i
JOIN {{ patterns | table }} AS q ON q.atom = i.atom
GROUP BY i.cell, q.pattern
