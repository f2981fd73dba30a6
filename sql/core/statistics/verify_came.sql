-- name: statistics/verify_came
-- params: witness, atoms (tables), counted (n or persons), least (readers know that there are so many)
-- returns: failing bigint: tables with fewer of them, the true one and the witnesses
SELECT COUNT(*) AS failing
FROM (
    SELECT SUM(w.change) AS change
    FROM {{ witness | table }} AS w
    GROUP BY w.witness
    UNION ALL
    SELECT CAST(0 AS BIGINT) AS change
) AS g
CROSS JOIN (SELECT SUM(a.{{ counted }}) AS n FROM {{ atoms | table }} AS a) AS t
WHERE t.n + g.change < {{ least }}
