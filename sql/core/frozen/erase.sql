-- name: frozen/erase
-- params: erased (table), keys (hashes of keys), at (the time of the run), mark (of the
--   key and the secret that the hashes were made with)
-- returns: nothing; the keys are listed
INSERT INTO {{ erased | table }} (_sqlanon_key, erased_at, listed_by)
SELECT k._sqlanon_key, CAST(:at AS VARCHAR), CAST(:mark AS VARCHAR)
FROM {{ keys | table }} AS k
WHERE NOT EXISTS (SELECT 1 FROM {{ erased | table }} AS e WHERE e._sqlanon_key = k._sqlanon_key)
