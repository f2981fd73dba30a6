-- name: freeform/edges
-- params: kept (table to make), edges (scratch table)
-- returns: the certificate's edges: matching, slot (a row), box; private: it never leaves the private schema
CREATE TABLE {{ kept | table }} AS
SELECT e.matching AS matching, e.slot AS slot, e.box AS box
FROM {{ edges | table }} AS e
