-- name: frozen/enter
-- params: kept (table of the lineage), entered (table), columns (names)
-- returns: nothing; the entered rows are in the kept table
INSERT INTO {{ kept | table }} ({% for c in columns %}{{ ", " if not loop.first }}{{ c | ident }}{% endfor %})
SELECT {% for c in columns %}{{ ", " if not loop.first }}e.{{ c | ident }}{% endfor %}

FROM {{ entered | table }} AS e
