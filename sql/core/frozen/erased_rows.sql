-- name: frozen/erased_rows
-- params: stage (the source's rows, with their key), erased (table)
-- returns: n bigint: the source's rows whose key is never published again
SELECT COUNT(*) AS n
FROM {{ stage | table }} AS s
WHERE EXISTS (SELECT 1 FROM {{ erased | table }} AS e WHERE e._sqlanon_key = s.person)
