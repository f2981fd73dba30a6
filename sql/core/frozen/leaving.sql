-- name: frozen/leaving
-- params: leaving (table to make), compared (table)
-- returns: class: the classes of which the source has no row any more, and those that hold an erased key
CREATE {{ leaving | scratch }} AS
SELECT c.class AS class
FROM {{ compared | table }} AS c
WHERE c.class IS NOT NULL
GROUP BY c.class
HAVING COUNT(c.rid) = 0 OR SUM(CASE WHEN c.erased THEN 1 ELSE 0 END) > 0
