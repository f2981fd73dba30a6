-- name: frozen/alike
-- params: rows (the lineage's)
-- returns: n bigint: rows whose key has the hash of another row's; keys that are equal are among them, and frozen/twice counts those
SELECT COUNT(*) - COUNT(DISTINCT HASH(l._sqlanon_key)) AS n
FROM {{ rows | table }} AS l
