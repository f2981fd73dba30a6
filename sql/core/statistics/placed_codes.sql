-- name: statistics/placed_codes
-- params: placed (table, as statistics/placed makes it), columns (list of {place})
-- returns: atom bigint, class bigint, n bigint, and the ranks, bigint
SELECT p.atom AS atom, p.class AS class, p.n AS n{% for c in columns %}, p.r{{ c.place }} AS r{{ c.place }}{% endfor %}

FROM {{ placed | table }} AS p
ORDER BY p.class, p.atom
