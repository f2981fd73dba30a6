-- name: table/count
-- params: source (table)
-- returns: n bigint
SELECT COUNT(*) AS n
FROM {{ source | table }} AS s
