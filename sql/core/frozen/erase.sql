-- name: frozen/erase
-- params: erased (table), keys (hashes of keys), at (the time of the run)
-- returns: nothing; the keys are listed
INSERT INTO {{ erased | table }} (_sqlanon_key, erased_at)
SELECT k._sqlanon_key, CAST(:at AS VARCHAR)
FROM {{ keys | table }} AS k
WHERE NOT EXISTS (SELECT 1 FROM {{ erased | table }} AS e WHERE e._sqlanon_key = k._sqlanon_key)
