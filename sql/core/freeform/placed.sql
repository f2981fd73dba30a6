-- name: freeform/placed
-- params: edges (scratch table of rid, slot), slots (scratch table of rid, slot)
-- returns: rows, different rids and different slots of the second, and edges whose rid is
--   that of their slot, all bigint: n three times, then k n, where the edges that boxes
--   are made of are those of the certificate, which names rows by slot alone
SELECT
    (SELECT COUNT(*) FROM {{ slots | table }} AS t) AS found
    , (SELECT COUNT(DISTINCT t.rid) FROM {{ slots | table }} AS t) AS rids
    , (SELECT COUNT(DISTINCT t.slot) FROM {{ slots | table }} AS t) AS slots
    , (
        SELECT COUNT(*)
        FROM {{ edges | table }} AS e
        JOIN {{ slots | table }} AS t ON t.rid = e.rid AND t.slot = e.slot
    ) AS edges
