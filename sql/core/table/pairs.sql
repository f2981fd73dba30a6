-- name: table/pairs
-- params: source (table), one (name), other (name)
-- returns: n bigint: different pairs of values, NULL being a value
SELECT COUNT(*) AS n
FROM (
    SELECT 1 AS seen
    FROM {{ source | table }} AS s
    GROUP BY s.{{ one | ident }}, s.{{ other | ident }}
) AS g
