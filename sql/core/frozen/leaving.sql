-- name: frozen/leaving
-- params: leaving (table to make), rows (the lineage's), stage (the source's rows, with their key), erased (hashes of keys)
-- returns: class: the classes of which the source has no row any more, and those that hold an erased key
CREATE {{ leaving | scratch }} AS
SELECT l._sqlanon_class AS class
FROM {{ rows | table }} AS l
LEFT JOIN {{ stage | table }} AS s ON s.person = l._sqlanon_key
LEFT JOIN {{ erased | table }} AS e ON e._sqlanon_key = l._sqlanon_key
WHERE l._sqlanon_class IS NOT NULL AND l._sqlanon_gone IS NULL
GROUP BY l._sqlanon_class
HAVING COUNT(s.person) = 0 OR COUNT(e._sqlanon_key) > 0
