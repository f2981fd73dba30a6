-- name: catalog/releases
-- params: catalog (table)
-- returns: the names of the releases
SELECT DISTINCT c.release AS release
FROM {{ catalog | table }} AS c
ORDER BY release
