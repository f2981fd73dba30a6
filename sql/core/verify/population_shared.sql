-- name: verify/population_shared
-- params: matched (table)
-- returns: n bigint: combinations of values of the population that lie in more than one published cell
SELECT COUNT(*) AS n
FROM (
    SELECT m.cell AS cell
    FROM {{ matched | table }} AS m
    GROUP BY m.cell
    HAVING COUNT(*) > 1
) AS g
