-- name: query/state
-- params: metadata (table), columns (names), catalog (table), all (every row of the
--   catalog, where rows are only appended)
-- returns: 0 and every row of a release's metadata; 1 and every published version of the
--   catalog: names, source and view
SELECT 0 AS part{% for c in columns %}, m.{{ c | ident }} AS {{ c | ident }}{% endfor %}

FROM {{ metadata | table }} AS m
UNION ALL
SELECT 1 AS part, c.release, c.source, c.view_schema, c.view_name, c.file, c.status, CAST(NULL AS TEXT)
FROM {{ catalog | table }} AS c
{% if not all %}
WHERE c.status = 'published'
{% endif %}
