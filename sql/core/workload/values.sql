-- name: workload/values
-- params: source (table), column (name), :most
-- returns: value, n bigint: the values of one column without NULL, of more than :most at
--   most so many, evenly over their order; and how many values there are
SELECT w.value AS value, w.n AS n
FROM (
    SELECT
        u.value AS value, u.n AS n, CAST(u.place AS DOUBLE) AS place
        , FLOOR((CAST(u.n AS DOUBLE) + :most - 1) / :most) AS step
    FROM (
        SELECT d.value AS value, ROW_NUMBER() OVER (ORDER BY d.value) - 1 AS place, COUNT(*) OVER () AS n
        FROM (
            SELECT s.{{ column | ident }} AS value
            FROM {{ source | table }} AS s
            WHERE s.{{ column | ident }} IS NOT NULL
            GROUP BY s.{{ column | ident }}
        ) AS d
    ) AS u
) AS w
WHERE w.place = FLOOR(w.place / w.step) * w.step
