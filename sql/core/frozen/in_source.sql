-- name: frozen/in_source
-- params: rows (the lineage's), stage (the source's rows, with their key), erased (table), version
-- returns: published bigint: rows of the source that the version publishes; early bigint: rows of the source whose class left in this version, although
--   none of its keys is erased
SELECT
    COALESCE(SUM(CASE WHEN t.gone IS NULL THEN 1 ELSE 0 END), 0) AS published
    , COALESCE(SUM(
        CASE WHEN t.gone = {{ version }} AND t.class NOT IN (
            SELECT x._sqlanon_class
            FROM {{ rows | table }} AS x
            JOIN {{ erased | table }} AS e ON e._sqlanon_key = x._sqlanon_key
            WHERE x._sqlanon_class IS NOT NULL
        ) THEN 1 ELSE 0 END
    ), 0) AS early
FROM (
    SELECT l._sqlanon_class AS class, l._sqlanon_gone AS gone
    FROM {{ rows | table }} AS l
    JOIN {{ stage | table }} AS s ON s.person = l._sqlanon_key
    WHERE l._sqlanon_class IS NOT NULL
) AS t
