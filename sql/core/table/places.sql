-- name: table/places
-- params: places (table)
-- returns: place bigint
SELECT CAST(t.place AS BIGINT) AS place
FROM {{ places | table }} AS t
ORDER BY place
