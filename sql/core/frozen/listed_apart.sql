-- name: frozen/listed_apart
-- params: erased (table), mark (of the key and the secret of now)
-- returns: n bigint: erased keys that are listed by another key or secret
SELECT COUNT(*) AS n
FROM {{ erased | table }} AS e
WHERE e.listed_by IS DISTINCT FROM CAST(:mark AS VARCHAR)
