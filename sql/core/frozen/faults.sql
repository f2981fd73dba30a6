-- name: frozen/faults
-- params: rows, classes (the lineage's tables), version
-- returns: keys that are in more than one class or twice; rows without a class of their own version; classes of which a part has left; refused
--   rows that are published; keys without a record of their own: all are 0 in a lineage that was kept as it should be
SELECT
    (SELECT COUNT(*) - COUNT(DISTINCT l._sqlanon_key) FROM {{ rows | table }} AS l) AS twice
    , (
        SELECT COUNT(*)
        FROM {{ rows | table }} AS l
        LEFT JOIN {{ classes | table }} AS c ON c._sqlanon_class = l._sqlanon_class AND c._sqlanon_since = l._sqlanon_since
        WHERE l._sqlanon_class IS NOT NULL AND c._sqlanon_class IS NULL
    ) AS mixed
    , (
        SELECT COUNT(*)
        FROM (
            SELECT l._sqlanon_class
            FROM {{ rows | table }} AS l
            WHERE l._sqlanon_class IS NOT NULL
            GROUP BY l._sqlanon_class
            HAVING COUNT(DISTINCT COALESCE(l._sqlanon_gone, 0)) > 1
        ) AS t
    ) AS parted
    , (SELECT COUNT(*) FROM {{ rows | table }} AS l WHERE l._sqlanon_class IS NOT NULL AND l._sqlanon_refused IS NOT NULL) AS refused
    , (SELECT COUNT(*) - COUNT(DISTINCT c._sqlanon_class) FROM {{ classes | table }} AS c) AS repeated
    , (SELECT COUNT(*) FROM {{ rows | table }} AS l WHERE l._sqlanon_since > {{ version }} OR l._sqlanon_gone > {{ version }}) AS later
