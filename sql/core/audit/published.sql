-- name: audit/published
-- params: published (table to make), linked (a version's private table of link, class and
--   persons), persons (its columns)
-- returns: class, persons: of the rows that are not left out
CREATE {{ published | scratch }} AS
SELECT t.class AS class{% for name in persons %}, t.{{ name | ident }} AS {{ name | ident }}{% endfor %}

FROM {{ linked | table }} AS t
WHERE t.class IS NOT NULL
