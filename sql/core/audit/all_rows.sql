-- name: audit/all_rows
-- params: target (table: a published release), columns (name, as_text: its values go to
--   Python as the engine writes them)
-- returns: its columns
SELECT {% for c in columns %}{{ ", " if not loop.first }}t.{{ c.name | ident }} AS {{ c.name | ident }}{% endfor %}

FROM {{ target | table }} AS t
