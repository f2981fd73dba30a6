-- name: frozen/held
-- params: keys (rows with a key), rows (the lineage's), at (the version that readers have)
-- returns: classes bigint, n bigint: the published classes that hold one of the keys, and
--   their rows; other bigint: rows of the other published classes
SELECT
    COUNT(DISTINCT l._sqlanon_class) AS classes
    , COUNT(*) AS n
    , (
        SELECT COUNT(*)
        FROM {{ rows | table }} AS o
        WHERE o._sqlanon_class IS NOT NULL AND (o._sqlanon_gone IS NULL OR o._sqlanon_gone > {{ at }})
    ) - COUNT(*) AS other
FROM {{ rows | table }} AS l
WHERE (l._sqlanon_gone IS NULL OR l._sqlanon_gone > {{ at }})
    AND l._sqlanon_class IN (
        SELECT x._sqlanon_class
        FROM {{ rows | table }} AS x
        JOIN {{ keys | table }} AS k ON k.person = x._sqlanon_key
        WHERE x._sqlanon_class IS NOT NULL
    )
