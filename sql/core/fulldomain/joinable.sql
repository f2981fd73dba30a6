-- name: fulldomain/joinable
-- params: classes (table), :most (rows that may be suppressed)
-- returns: n bigint: how many classes that meet the requirements may join those that do not, by their places
SELECT COUNT(*) AS n
FROM (
    SELECT c.place AS place, SUM(c.n) OVER (ORDER BY c.place ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS rows
    FROM (
        SELECT s.place AS place, SUM(s.n) AS n
        FROM {{ classes | table }} AS s
        GROUP BY s.place
    ) AS c
) AS t
WHERE t.place > 0 AND t.rows <= :most
