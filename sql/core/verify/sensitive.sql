-- name: verify/sensitive
-- params: counted (table), classed, released (tables), group, value, count (columns of
--   counted), alias (of the value in the stage)
-- returns: found bigint (rows of the table), expected bigint (values that the groups of the staged rows hold),
--   wrong bigint (values of a group, or rows without a count, whose count is not that of the staged rows)
SELECT
    CAST(COALESCE(SUM(g.found), 0) AS BIGINT) AS found
    , CAST(COALESCE(SUM(g.expected), 0) AS BIGINT) AS expected
    , CAST(
        COALESCE(SUM(CASE WHEN g.difference = 0 AND g.found = 1 AND g.expected = 1 THEN 0 ELSE 1 END), 0) AS BIGINT
    ) AS wrong
FROM (
    SELECT SUM(u.n) AS difference, SUM(u.found) AS found, SUM(1 - u.found) AS expected
    FROM (
        SELECT
            t.{{ group | ident }} AS place
            , t.{{ value | ident }} AS value
            , CAST(t.{{ count | ident }} AS BIGINT) AS n
            , 1 AS found
        FROM {{ counted | table }} AS t
        UNION ALL
        SELECT r.{{ group | ident }} AS place, s.{{ alias }} AS value, -COUNT(*) AS n, 0 AS found
        FROM {{ classed | table }} AS s
        JOIN {{ released | table }} AS r ON r._sqlanon_class = s.class
        GROUP BY r.{{ group | ident }}, s.{{ alias }}
    ) AS u
    GROUP BY u.place, u.value
) AS g
