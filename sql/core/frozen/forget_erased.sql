-- name: frozen/forget_erased
-- params: rows (the lineage's), erased (table)
-- returns: nothing; erased keys that were never published wait no more
DELETE FROM {{ rows | table }}
WHERE _sqlanon_class IS NULL AND _sqlanon_key IN (SELECT e._sqlanon_key FROM {{ erased | table }} AS e)
