-- name: history/keep
-- params: kept (table to make), history (table), sensitive (how many sensitive columns: a list)
-- returns: the same, in the private schema, where it stays when the version's table is dropped
CREATE TABLE {{ kept | table }} AS
SELECT h.person AS person, h.class AS class, h.mark AS mark{% for c in sensitive %}, h.s{{ loop.index }} AS s{{ loop.index }}{% endfor %}

FROM {{ history | table }} AS h
