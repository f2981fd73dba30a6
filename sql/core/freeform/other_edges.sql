-- name: freeform/other_edges
-- params: kept (the certificate's edges of a version), edges (scratch table of slot, box)
-- returns: others bigint: boxes of rows that only one of the two graphs has, whichever matchings they are in
SELECT COUNT(*) AS others
FROM {{ kept | table }} AS o
FULL OUTER JOIN {{ edges | table }} AS n ON n.slot = o.slot AND n.box = o.box
WHERE o.slot IS NULL OR n.slot IS NULL
