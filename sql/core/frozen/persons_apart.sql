-- name: frozen/persons_apart
-- params: rows (the lineage's)
-- returns: n bigint: persons who were published in more than one class
SELECT COUNT(*) AS n
FROM (
    SELECT l._sqlanon_owner
    FROM {{ rows | table }} AS l
    WHERE l._sqlanon_class IS NOT NULL
    GROUP BY l._sqlanon_owner
    HAVING COUNT(DISTINCT l._sqlanon_class) > 1
) AS t
