-- name: frozen/listed_by
-- params: erased (table), mark (of the key and the secret of now)
-- returns: nothing; the list is one of keys by the key and the secret of now: hashes that
--   were made with others stay, and match no row any more
UPDATE {{ erased | table }} SET listed_by = CAST(:mark AS VARCHAR)
