-- name: freeform/drawn
-- params: kept (table to make), slots (scratch table of rid, slot), classed (table),
--   link (alias of each column that it is the hash of, and whether that is a listed text; none: the column link)
-- returns: the certificate's rows: slot (as edges have it), link (hash of the source row's identifying
--   columns), box (the one that it is published in); private: it never leaves the private schema
CREATE TABLE {{ kept | table }} AS
SELECT t.slot AS slot, {{ link | link_of("s") }} AS link, s.class AS box
FROM {{ classed | table }} AS s
JOIN {{ slots | table }} AS t ON t.rid = s.rid
