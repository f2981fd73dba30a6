-- name: best/kept
-- params: kept (table to make), origin (table), columns (names)
-- returns: the origin's rows
CREATE {{ kept | scratch }} AS
SELECT {% for c in columns %}{{ ", " if not loop.first }}t.{{ c | ident }} AS {{ c | ident }}{% endfor %}

FROM {{ origin | table }} AS t
