-- name: frozen/left_early
-- params: rows (the lineage's), stage (the source's rows, with their key), erased (table), version
-- returns: n bigint: rows of the source whose class left in this version, although none of its keys is erased
SELECT COUNT(*) AS n
FROM {{ rows | table }} AS l
JOIN {{ stage | table }} AS s ON s.person = l._sqlanon_key
WHERE l._sqlanon_gone = {{ version }}
    AND NOT EXISTS (
        SELECT 1
        FROM {{ rows | table }} AS x
        JOIN {{ erased | table }} AS e ON e._sqlanon_key = x._sqlanon_key
        WHERE x._sqlanon_class = l._sqlanon_class
    )
