-- name: publish/link
-- params: linked (table to make), classed (table), released (table)
-- returns: link bigint (hash of a source row's identifying columns), class bigint (as a reader sees it: classes that publish the same are one); private: it never leaves the private schema
CREATE TABLE {{ linked | table }} AS
SELECT s.link AS link, r._sqlanon_place AS class
FROM {{ classed | table }} AS s
JOIN {{ released | table }} AS r ON r._sqlanon_class = s.class
