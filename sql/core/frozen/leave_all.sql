-- name: frozen/leave_all
-- params: rows (the lineage's), erased (table), version
-- returns: nothing; of a lineage that was ended: classes that hold an erased key have left
UPDATE {{ rows | table }} SET _sqlanon_gone = {{ version }}
WHERE _sqlanon_gone IS NULL
    AND _sqlanon_class IN (
        SELECT x._sqlanon_class
        FROM {{ rows | table }} AS x
        JOIN {{ erased | table }} AS e ON e._sqlanon_key = x._sqlanon_key
        WHERE x._sqlanon_class IS NOT NULL
    )
