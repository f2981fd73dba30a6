-- name: publish/rows
-- params: target (table), columns (names)
-- returns: the rows of the table
SELECT {% for c in columns %}{{ ", " if not loop.first }}t.{{ c | ident }} AS {{ c | ident }}{% endfor %}

FROM {{ target | table }} AS t
