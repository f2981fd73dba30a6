-- name: frozen/enter
-- params: kept (table of the lineage), entered (table), columns (names)
INSERT INTO {{ kept | table }} ({% for c in columns %}{{ ", " if not loop.first }}{{ c | ident }}{% endfor %})
SELECT {% for c in columns %}{{ ", " if not loop.first }}e.{{ c | ident }}{% endfor %}

FROM {{ entered | table }} AS e
