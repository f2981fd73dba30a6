-- name: frozen/blank_classes
-- params: classes, rows (the lineage's), erased (table, or none: of all classes), columns (names)
-- returns: nothing; what was published of the quasi columns of classes that held an erased key is kept no more
UPDATE {{ classes | table }} SET {% for c in columns %}{{ ", " if not loop.first }}{{ c | ident }} = NULL{% endfor %}

{% if erased %}
WHERE _sqlanon_class IN (
    SELECT x._sqlanon_class
    FROM {{ rows | table }} AS x
    JOIN {{ erased | table }} AS e ON e._sqlanon_key = x._sqlanon_key
    WHERE x._sqlanon_gone IS NOT NULL
)
{% endif %}
