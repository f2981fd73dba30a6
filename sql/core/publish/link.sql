-- name: publish/link
-- params: linked (table to make), classed (table)
-- returns: link bigint (hash of a source row's identifying columns), class integer; private: it never leaves the private schema
CREATE TABLE {{ linked | table }} AS
SELECT s.link AS link, s.class AS class
FROM {{ classed | table }} AS s
