-- name: preview/before
-- params: stage (table), columns (aliases), rids (row ids)
-- returns: rid, the staged values of these rows: what a run has read of the source
SELECT s.rid{% for c in columns %}, s.{{ c | ident }} AS {{ c | ident }}{% endfor %}

FROM {{ stage | table }} AS s
WHERE s.rid IN ({% for rid in rids %}{{ ", " if not loop.first }}{{ rid }}{% endfor %})
ORDER BY s.rid
