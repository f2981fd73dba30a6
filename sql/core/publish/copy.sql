-- name: publish/copy
-- params: copy (table to make), origin (table), columns (names)
-- returns: the origin's rows
CREATE TABLE {{ copy | table }} AS
SELECT {% for c in columns %}{{ ", " if not loop.first }}t.{{ c | ident }} AS {{ c | ident }}{% endfor %}

FROM {{ origin | table }} AS t
