-- name: audit/all_rows
-- params: target (table: a published release), columns (names)
-- returns: its columns
SELECT {% for c in columns %}{{ ", " if not loop.first }}t.{{ c | ident }} AS {{ c | ident }}{% endfor %}

FROM {{ target | table }} AS t
