-- name: statistics/part_codes
-- params: atoms (private table of parts), columns (list), neighbour (list of {place})
-- returns: of each part its finest keys, then bigint each: kind, class, n, and the ranks
SELECT
{% for c in columns %}
    a.v{{ loop.index }}_0 AS v{{ loop.index }},
{% endfor %}
    a.kind AS kind,
    a.class AS class,
    a.n AS n
{% for c in neighbour %}
    , a.r{{ c.place }} AS r{{ c.place }}
{% endfor %}
FROM {{ atoms | table }} AS a
ORDER BY a.atom
