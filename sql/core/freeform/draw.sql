-- name: freeform/draw
-- params: edges, drawn (the certificate's tables)
-- returns: rows bigint (whose drawn box is an edge of theirs), least and greatest matching
--   of such edges: one, where all rows were drawn by it
SELECT COUNT(*) AS found, MIN(e.matching) AS least, MAX(e.matching) AS greatest
FROM {{ drawn | table }} AS d
JOIN {{ edges | table }} AS e ON e.slot = d.slot AND e.box = d.box
