-- name: verify/staged
-- params: stage, assign, released (tables), published (list of {source (r or s), column})
-- returns: n bigint, mark text: the fingerprint that the staged rows must leave in the table
SELECT COUNT(*) AS n, CAST(COALESCE(SUM(CAST(HASH({% for c in published %}{{ ", " if not loop.first }}{{ c.source }}.{{ c.column | ident }}{% endfor %}) AS HUGEINT)), 0) AS VARCHAR) AS mark
FROM {{ stage | table }} AS s
JOIN {{ assign | table }} AS a ON a.rid = s.rid
JOIN {{ released | table }} AS r ON r.class = a.class
