-- name: budget/rows
-- params: source (table), columns (names)
-- returns: the columns of every row
SELECT {% for name in columns %}{{ ", " if not loop.first }}s.{{ name | ident }}{% endfor %}

FROM {{ source | table }} AS s
