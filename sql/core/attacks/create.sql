-- name: attacks/create
-- params: attacks (table)
-- returns: one row for the attacks on a version that were kept, in the order of number;
--   figures has numbers and names of columns, never a cell value
CREATE TABLE IF NOT EXISTS {{ attacks | table }} (
    number INTEGER NOT NULL
    , release TEXT NOT NULL
    , version INTEGER NOT NULL
    , made_at TEXT NOT NULL
    , figures TEXT NOT NULL
)
