-- name: regular/tuples
-- params: source (table), columns (of integers), prefix (of their names in the source)
-- returns: the columns, n bigint: each tuple once, and how many rows have it
SELECT {% for c in columns %}CAST(t.{{ prefix }}{{ c }} AS INTEGER) AS {{ c }}, {% endfor %}COUNT(*) AS n
FROM {{ source | table }} AS t
GROUP BY {% for c in columns %}{{ ", " if not loop.first }}t.{{ prefix }}{{ c }}{% endfor %}

