-- name: frozen/forget_history
-- params: history (of a version that is no lineage's), erased (table)
-- returns: nothing; nothing is kept of the classes that held an erased key
DELETE FROM {{ history | table }}
WHERE class IN (
    SELECT h.class
    FROM {{ history | table }} AS h
    JOIN {{ erased | table }} AS e ON e._sqlanon_key = h.person
)
