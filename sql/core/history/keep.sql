-- name: history/keep
-- params: kept (table to make), history (table), columns (its columns s1.. and p1..)
-- returns: the same, in the private schema, where it stays when the version's table is dropped
CREATE TABLE {{ kept | table }} AS
SELECT h.person AS person, h.class AS class, h.mark AS mark{% for c in columns %}, h.{{ c }} AS {{ c }}{% endfor %}

FROM {{ history | table }} AS h
