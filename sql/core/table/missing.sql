-- name: table/missing
-- params: values (table), domain (table)
-- returns: missing bigint (values without a code), doubled bigint (codes that share a value)
SELECT
    (SELECT COUNT(*) FROM {{ values | table }} AS v
     LEFT JOIN {{ domain | table }} AS d ON d.value = v.value
     WHERE v.value IS NOT NULL AND d.value IS NULL) AS missing
    , (SELECT COUNT(*) FROM (
        SELECT d.value AS value FROM {{ domain | table }} AS d
        WHERE d.value IS NOT NULL GROUP BY d.value HAVING COUNT(*) > 1
    ) AS g) AS doubled
