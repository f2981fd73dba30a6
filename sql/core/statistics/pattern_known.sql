-- name: statistics/pattern_known
-- params: known (table to make), cells (table), inside (table, as statistics/inside makes
--   it), touching (table, as statistics/pattern_inside makes it)
-- returns: owner bigint (the pattern of a person who is alone in a cell), atom bigint: a
--   finest combination in such a cell
CREATE {{ known | scratch }} AS
SELECT DISTINCT t.pattern AS owner, i.atom AS atom
FROM {{ cells | table }} AS c
JOIN {{ inside | table }} AS i ON i.cell = c.cell
JOIN {{ touching | table }} AS t ON t.cell = c.cell AND t.persons > 0
WHERE c.persons = 1
