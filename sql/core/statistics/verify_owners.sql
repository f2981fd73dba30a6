-- name: statistics/verify_owners
-- params: cells (table), touching (table, as statistics/pattern_inside makes it)
-- returns: failing bigint: cells of one person of whom there is no pattern, or of whom there are several
SELECT COUNT(*) AS failing
FROM {{ cells | table }} AS c
LEFT JOIN (
    SELECT t.cell AS cell, CAST(SUM(t.persons) AS BIGINT) AS persons
    FROM {{ touching | table }} AS t
    GROUP BY t.cell
) AS g ON g.cell = c.cell
WHERE c.persons = 1 AND (g.persons IS NULL OR g.persons <> 1)
