-- name: audit/persons
-- params: linked (private table of link, class)
-- returns: fewest bigint: the fewest distinct identifiers in any class of a release
SELECT COALESCE(MIN(g.n), 0) AS fewest
FROM (
    SELECT COUNT(DISTINCT t.link) AS n
    FROM {{ linked | table }} AS t
    GROUP BY t.class
) AS g
