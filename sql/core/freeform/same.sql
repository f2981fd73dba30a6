-- name: freeform/same
-- params: drawn (the certificate's table of a version), slots (scratch table of rid,
--   slot), classed (table of rid, class), link (alias of each column that the link is the
--   hash of, and whether that is a listed text; none: classed has the column link)
-- returns: found bigint (rows of that version), same bigint (its rows that are in the same slot and box now)
SELECT
    (SELECT COUNT(*) FROM {{ drawn | table }} AS d) AS found
    , (
        SELECT COUNT(DISTINCT d.slot)
        FROM {{ drawn | table }} AS d
        JOIN {{ slots | table }} AS t ON t.slot = d.slot
        JOIN {{ classed | table }} AS s ON s.rid = t.rid AND {{ link | link_of("s") }} = d.link AND s.class = d.box
    ) AS same
