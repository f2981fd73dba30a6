-- name: frozen/waiting
-- params: rows (the lineage's)
-- returns: n bigint, earliest text: rows that wait for their cohort, and since when the first of them does
SELECT COUNT(*) AS n, MIN(l._sqlanon_first) AS earliest
FROM {{ rows | table }} AS l
WHERE l._sqlanon_class IS NULL AND l._sqlanon_refused IS NULL
