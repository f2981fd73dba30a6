-- name: loss/reconstruction
-- params: classed (table), value (sensitive column in the stage)
-- returns: error double: over classes, rows - (sum over values of count^2) / rows
SELECT CAST(COALESCE(SUM(CAST(g.n AS DOUBLE) - g.squares / CAST(g.n AS DOUBLE)), 0) AS DOUBLE) AS error
FROM (
    SELECT SUM(v.n) AS n, SUM(CAST(v.n AS DOUBLE) * CAST(v.n AS DOUBLE)) AS squares
    FROM (
        SELECT s.class AS class, COUNT(*) AS n
        FROM {{ classed | table }} AS s
        GROUP BY s.class, s.{{ value }}
    ) AS v
    GROUP BY v.class
) AS g
