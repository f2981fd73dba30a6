-- name: frozen/listed
-- params: erased (table)
-- returns: n bigint: keys that are never published again
SELECT COUNT(*) AS n
FROM {{ erased | table }} AS e
