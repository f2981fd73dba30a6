-- name: statistics/ends
-- params: ends (table to make), moved, compared (tables)
-- returns: cell bigint, witness bigint, change bigint: of each small cell what the
--   witnesses make of it, the true table (witness -1) among them
CREATE {{ ends | scratch }} AS
SELECT m.cell AS cell, m.witness AS witness, m.change AS change
FROM {{ moved | table }} AS m
JOIN {{ compared | table }} AS c ON c.cell = m.cell
WHERE c.small = 1
UNION ALL
SELECT s.cell AS cell, CAST(-1 AS BIGINT) AS witness, CAST(0 AS BIGINT) AS change
FROM {{ compared | table }} AS s
WHERE s.small = 1
