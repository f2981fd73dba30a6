-- name: statistics/verify_pattern_ends
-- params: ends (table, as statistics/pattern_ends makes it), least (table), least_of (n or persons), threshold
-- returns: failing bigint: small cells that in no witness have as few rows (or persons,
--   where these are demanded) as finest cells, or in none as many persons as the threshold
SELECT COUNT(*) AS failing
FROM (
    SELECT e.cell AS cell, MIN(e.{{ least_of }}) AS low, MAX(e.persons) AS high
    FROM {{ ends | table }} AS e
    GROUP BY e.cell
) AS g
LEFT JOIN {{ least | table }} AS l ON l.cell = g.cell
WHERE l.least IS NULL OR g.low > l.least OR g.high < {{ threshold }}
