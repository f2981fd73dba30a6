-- name: publish/table
-- params: physical (table to make), stage, assign, released (tables), published (list of {source (r or s), column, name})
-- returns: the released rows, ordered by all their columns, so that their order says nothing of the source's
CREATE TABLE {{ physical | table }} AS
SELECT {% for c in published %}{{ ", " if not loop.first }}{{ c.source }}.{{ c.column | ident }} AS {{ c.name | ident }}{% endfor %}

FROM {{ stage | table }} AS s
JOIN {{ assign | table }} AS a ON a.rid = s.rid
JOIN {{ released | table }} AS r ON r.class = a.class
ORDER BY r.place{% for c in published if c.source == "s" %}, s.{{ c.column | ident }} NULLS FIRST{% endfor %}

