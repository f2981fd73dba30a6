-- name: frozen/erased_since
-- params: rows (the lineage's), erased (table), at (a version)
-- returns: n bigint: erased keys whose class the version published and a later one does
--   not, so that nothing is kept of it
SELECT COUNT(*) AS n
FROM {{ rows | table }} AS l
JOIN {{ erased | table }} AS e ON e._sqlanon_key = l._sqlanon_key
WHERE l._sqlanon_since <= {{ at }} AND l._sqlanon_gone > {{ at }}
