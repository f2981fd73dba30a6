-- name: frozen/forget_history
-- params: history (of a version that is no lineage's), erased (table)
-- returns: nothing; nothing is kept of the classes that held an erased key, nor of erased
--   keys that the version left out: those have no class
DELETE FROM {{ history | table }}
WHERE class IN (
    SELECT h.class
    FROM {{ history | table }} AS h
    JOIN {{ erased | table }} AS e ON e._sqlanon_key = h.person
)
OR person IN (SELECT e._sqlanon_key FROM {{ erased | table }} AS e)
