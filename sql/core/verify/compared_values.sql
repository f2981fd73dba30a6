-- name: verify/compared_values
-- params: target (table), group (column, NULL for rows of the source), value (column),
--   count (column with the number of rows that each represents)
-- returns: class bigint (0, 1, ..; -1: the source), value bigint (0, 1, .. by ascending
--   values, NULL first), n bigint (rows with the value)
SELECT
    CAST(CASE WHEN v.grp IS NULL THEN -1 ELSE DENSE_RANK() OVER (ORDER BY v.grp NULLS LAST) - 1 END AS BIGINT) AS class
    , CAST(DENSE_RANK() OVER (ORDER BY v.value NULLS FIRST) - 1 AS BIGINT) AS value
    , CAST(v.n AS BIGINT) AS n
FROM (
    SELECT t.{{ group | ident }} AS grp, t.{{ value | ident }} AS value, SUM(t.{{ count | ident }}) AS n
    FROM {{ target | table }} AS t
    GROUP BY t.{{ group | ident }}, t.{{ value | ident }}
) AS v
