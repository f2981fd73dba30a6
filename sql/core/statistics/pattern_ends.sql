-- name: statistics/pattern_ends
-- params: ends (table to make), moved (table, as statistics/pattern_moved makes it), compared (table)
-- returns: cell bigint, witness bigint, n bigint, persons bigint: the rows and persons of
--   each small cell in the witnesses, the true source (witness -1) among them
CREATE {{ ends | scratch }} AS
SELECT m.cell AS cell, m.witness AS witness, c.n + m.n AS n, c.persons + m.persons AS persons
FROM {{ moved | table }} AS m
JOIN {{ compared | table }} AS c ON c.cell = m.cell
WHERE c.small = 1
UNION ALL
SELECT s.cell AS cell, CAST(-1 AS BIGINT) AS witness, s.n AS n, s.persons AS persons
FROM {{ compared | table }} AS s
WHERE s.small = 1
