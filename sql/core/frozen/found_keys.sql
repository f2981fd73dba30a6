-- name: frozen/found_keys
-- params: keys (rows with a key), rows (the lineage's), at (the version that readers have)
-- returns: keys bigint, published bigint, waiting bigint, gone bigint: keys of a file, and
--   those that are published, wait, or were published
SELECT
    COUNT(*) AS keys
    , COALESCE(SUM(CASE
        WHEN l._sqlanon_class IS NOT NULL AND (l._sqlanon_gone IS NULL OR l._sqlanon_gone > {{ at }}) THEN 1
        ELSE 0
    END), 0) AS published
    , COALESCE(SUM(CASE WHEN l._sqlanon_key IS NOT NULL AND l._sqlanon_class IS NULL THEN 1 ELSE 0 END), 0) AS waiting
    , COALESCE(SUM(CASE WHEN l._sqlanon_gone <= {{ at }} THEN 1 ELSE 0 END), 0) AS gone
FROM {{ keys | table }} AS k
LEFT JOIN {{ rows | table }} AS l ON l._sqlanon_key = k.person
