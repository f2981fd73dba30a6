-- name: freeform/regular
-- params: edges, drawn (the certificate's tables)
-- returns: edges, different pairs of row and box, pairs of matching and row, pairs of matching and box, matchings, rows, boxes, rows that
--   have a drawn box, all bigint: k matchings are bijections without a common edge where the first four are k n, then k, and then n
SELECT
    (SELECT COUNT(*) FROM {{ edges | table }} AS e) AS edges
    , (SELECT COUNT(*) FROM (SELECT e.slot AS slot, e.box AS box FROM {{ edges | table }} AS e GROUP BY e.slot, e.box) AS p) AS pairs
    , (SELECT COUNT(*) FROM (SELECT e.matching AS matching, e.slot AS slot FROM {{ edges | table }} AS e GROUP BY e.matching, e.slot) AS p) AS of_rows
    , (SELECT COUNT(*) FROM (SELECT e.matching AS matching, e.box AS box FROM {{ edges | table }} AS e GROUP BY e.matching, e.box) AS p) AS of_boxes
    , (SELECT COUNT(DISTINCT e.matching) FROM {{ edges | table }} AS e) AS matchings
    , (SELECT COUNT(DISTINCT e.slot) FROM {{ edges | table }} AS e) AS slots
    , (SELECT COUNT(DISTINCT e.box) FROM {{ edges | table }} AS e) AS boxes
    , (SELECT COUNT(DISTINCT d.slot) FROM {{ drawn | table }} AS d) AS drawn
