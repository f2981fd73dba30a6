-- name: statistics/verify_pattern_came
-- params: witness, cells (tables), least (readers know that there are so many persons)
-- returns: failing bigint: sources with fewer persons, the true one and the witnesses; the
--   grand total is the cell of most persons
SELECT COUNT(*) AS failing
FROM (
    SELECT SUM(w.change) AS change
    FROM {{ witness | table }} AS w
    GROUP BY w.witness
    UNION ALL
    SELECT CAST(0 AS BIGINT) AS change
) AS g
CROSS JOIN (SELECT MAX(c.persons) AS persons FROM {{ cells | table }} AS c) AS t
WHERE t.persons + g.change < {{ least }}
