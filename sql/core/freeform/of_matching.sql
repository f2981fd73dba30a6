-- name: freeform/of_matching
-- params: edges (the certificate's table), matching (an integer)
-- returns: slot, box (integers): the edges of a matching, in no order
SELECT CAST(e.slot AS INTEGER) AS slot, CAST(e.box AS INTEGER) AS box
FROM {{ edges | table }} AS e
WHERE e.matching = {{ matching }}
