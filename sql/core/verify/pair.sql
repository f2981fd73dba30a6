-- name: verify/pair
-- params: rows (table: one row each), counted (table: sensitive values and how often), group, count (columns)
-- returns: groups bigint (in either table), wrong bigint (groups of which the two tables
--   do not hold the same number of rows)
SELECT
    COUNT(*) AS groups
    , CAST(COALESCE(SUM(CASE WHEN g.rows_n = g.counted_n THEN 0 ELSE 1 END), 0) AS BIGINT) AS wrong
FROM (
    SELECT SUM(u.rows_n) AS rows_n, SUM(u.counted_n) AS counted_n
    FROM (
        SELECT t.{{ group | ident }} AS place, 1 AS rows_n, 0 AS counted_n
        FROM {{ rows | table }} AS t
        UNION ALL
        SELECT c.{{ group | ident }} AS place, 0 AS rows_n, c.{{ count | ident }} AS counted_n
        FROM {{ counted | table }} AS c
    ) AS u
    GROUP BY u.place
) AS g
