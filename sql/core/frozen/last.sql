-- name: frozen/last
-- params: classes (the lineage's)
-- returns: last bigint: the largest number of a class
SELECT COALESCE(MAX(c._sqlanon_class), 0) AS last
FROM {{ classes | table }} AS c
