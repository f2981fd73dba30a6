-- name: statistics/past_parts
-- params: atoms (as statistics/past_atoms makes it), parts (names of the columns of parts)
-- returns: n bigint, and of each atom these columns, bigint; -1 where it is no part; in the order of the atoms
SELECT a.n AS n{% for name in parts %}, COALESCE(a.{{ name }}, -1) AS {{ name }}{% endfor %}

FROM {{ atoms | table }} AS a
ORDER BY a.atom
