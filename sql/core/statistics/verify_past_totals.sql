-- name: statistics/verify_past_totals
-- params: witness, atoms (tables), first (the first version of all), threshold, cohort,
--   fewest (new rows of a version at least, and of one that time alone asks for)
-- returns: failing bigint: versions with fewer new rows than the rule says, in the true table and in witnesses
SELECT COUNT(*) AS failing
FROM (
    SELECT a.batch AS batch, SUM(w.change) AS change
    FROM {{ witness | table }} AS w
    JOIN {{ atoms | table }} AS a ON a.atom = w.atom
    GROUP BY w.witness, a.batch
    UNION ALL
    SELECT DISTINCT x.batch AS batch, CAST(0 AS BIGINT) AS change
    FROM {{ atoms | table }} AS x
) AS g
JOIN (SELECT b.batch AS batch, SUM(b.n) AS n FROM {{ atoms | table }} AS b GROUP BY b.batch) AS t ON t.batch = g.batch
WHERE t.n + g.change < CASE
    WHEN t.batch = {{ first }} THEN {{ threshold }}
    WHEN t.n >= {{ cohort }} THEN {{ cohort }}
    ELSE {{ fewest }}
END
