-- name: statistics/sum_read
-- params: table, columns (names, integers), order (names)
-- returns: the columns, in that order
SELECT {% for name in columns %}{{ ", " if not loop.first }}t.{{ name }} AS {{ name }}{% endfor %}

FROM {{ table | table }} AS t
ORDER BY {% for name in order %}{{ ", " if not loop.first }}t.{{ name }}{% endfor %}

