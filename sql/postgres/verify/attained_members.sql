-- name: verify/attained_members
-- params: classed (table of class and the staged originals), released (table), alias (the original), value (its published column)
-- returns: missed bigint: classes with a member of their set that no row of them has; classes that publish no set are passed over. Every
--   value is known to be a member, so that as many different values as members are all that is asked.
SELECT CAST(COUNT(CASE WHEN r.{{ value | ident }} IS NOT NULL AND NOT COALESCE(CARDINALITY(r.{{ value | ident }}) = g.size, FALSE) THEN 1 END) AS BIGINT) AS missed
FROM (
    SELECT d.class AS class, COUNT(d.value) AS size
    FROM (SELECT s.class AS class, s.{{ alias }} AS value FROM {{ classed | table }} AS s GROUP BY s.class, s.{{ alias }}) AS d
    GROUP BY d.class
) AS g
JOIN {{ released | table }} AS r ON r._sqlanon_class = g.class
