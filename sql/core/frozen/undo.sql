-- name: frozen/undo
-- params: rows (the lineage's), version, erased (table)
-- returns: nothing; rows that left in a version that readers never had are published
--   again, but for classes that hold an erased key
UPDATE {{ rows | table }} SET _sqlanon_gone = NULL
WHERE _sqlanon_gone = {{ version }}
    AND _sqlanon_class NOT IN (
        SELECT x._sqlanon_class
        FROM {{ rows | table }} AS x
        JOIN {{ erased | table }} AS e ON e._sqlanon_key = x._sqlanon_key
        WHERE x._sqlanon_class IS NOT NULL
    )
