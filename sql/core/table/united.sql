-- name: table/united
-- params: united (table to make), classed (table), pairs (table of class, united), columns (all others of classed)
-- returns: the same rows with the class that theirs became part of
CREATE {{ united | scratch }} AS
SELECT p.united AS class{% for name in columns %}, s.{{ name | ident }} AS {{ name | ident }}{% endfor %}

FROM {{ classed | table }} AS s
JOIN {{ pairs | table }} AS p ON p.class = s.class
