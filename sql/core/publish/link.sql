-- name: publish/link
-- params: linked (table to make), stage, assign (tables)
-- returns: link bigint (hash of a source row's identifying columns), class integer; private: it never leaves the private schema
CREATE TABLE {{ linked | table }} AS
SELECT s.link AS link, a.class AS class
FROM {{ stage | table }} AS s
JOIN {{ assign | table }} AS a ON a.rid = s.rid
