-- name: frozen/left_since
-- params: rows (the lineage's), at (a version)
-- returns: n bigint: rows that the version published and a later one does not
SELECT COUNT(*) AS n
FROM {{ rows | table }} AS l
WHERE l._sqlanon_since <= {{ at }} AND l._sqlanon_gone > {{ at }}
