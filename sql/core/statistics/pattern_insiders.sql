-- name: statistics/pattern_insiders
-- params: insiders (table to make), cells (table), touching (table, as statistics/pattern_inside makes it)
-- returns: owner bigint (the pattern of a person who is alone in a cell), pattern bigint:
--   a pattern that the person knows nobody else to have, as it has rows in such a cell
CREATE {{ insiders | scratch }} AS
SELECT DISTINCT o.pattern AS owner, t.pattern AS pattern
FROM {{ cells | table }} AS c
JOIN {{ touching | table }} AS o ON o.cell = c.cell AND o.persons > 0
JOIN {{ touching | table }} AS t ON t.cell = c.cell
WHERE c.persons = 1
