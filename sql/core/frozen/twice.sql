-- name: frozen/twice
-- params: rows (the lineage's)
-- returns: n bigint: rows more than keys
SELECT COUNT(*) - COUNT(DISTINCT l._sqlanon_key) AS n
FROM {{ rows | table }} AS l
