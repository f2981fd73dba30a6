-- name: query/metadata
-- params: metadata (table), columns (names)
-- returns: every row of a release's metadata
SELECT {% for c in columns %}{{ ", " if not loop.first }}m.{{ c | ident }} AS {{ c | ident }}{% endfor %}

FROM {{ metadata | table }} AS m
