-- name: frozen/kept
-- params: rows, classes (the lineage's), own (columns that rows are published with), parts
--   (columns that classes are published with)
-- returns: keys bigint: that were ever seen; held bigint: those of which published values are kept
SELECT
    COUNT(*) AS keys
    , COALESCE(SUM(CASE
        WHEN
{% for c in own %}
        l.{{ c | ident }} IS NOT NULL OR
{% endfor %}
        {% for c in parts %}c.{{ c | ident }} IS NOT NULL{{ " OR " if not loop.last }}{% endfor %} THEN 1
        ELSE 0
    END), 0) AS held
FROM {{ rows | table }} AS l
LEFT JOIN {{ classes | table }} AS c ON c._sqlanon_class = l._sqlanon_class
