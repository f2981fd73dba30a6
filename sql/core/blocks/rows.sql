-- name: blocks/rows
-- params: table (to read), columns (integers)
-- returns: the columns
SELECT {% for column in columns %}{{ ", " if not loop.first }}t.{{ column }} AS {{ column }}{% endfor %}

FROM {{ table | table }} AS t
