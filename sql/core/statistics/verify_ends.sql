-- name: statistics/verify_ends
-- params: ends, compared, least (tables), threshold
-- returns: failing bigint: small cells that no witness takes to the least that their parts
--   allow, or none to the threshold
SELECT COUNT(*) AS failing
FROM (
    SELECT e.cell AS cell, MIN(e.change) AS low, MAX(e.change) AS high
    FROM {{ ends | table }} AS e
    GROUP BY e.cell
) AS g
JOIN {{ compared | table }} AS c ON c.cell = g.cell
JOIN {{ least | table }} AS l ON l.cell = g.cell
WHERE c.value + g.low > l.least OR c.value + g.high < {{ threshold }}
