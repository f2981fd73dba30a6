-- name: preview/after
-- params: classed, released (tables), published (list of {source (r or s), column, name, kind}), rids (row ids)
-- returns: rid, and what would be published of these rows; a row that would be left out is missing
SELECT s.rid{% for c in published %}, {{ c.source }}.{{ c.column | ident }} AS {{ c.name | ident }}{% endfor %}

FROM {{ classed | table }} AS s
JOIN {{ released | table }} AS r ON r._sqlanon_class = s.class
WHERE s.rid IN ({% for rid in rids %}{{ ", " if not loop.first }}{{ rid }}{% endfor %})
ORDER BY s.rid
