-- name: catalog/create_scratch
-- params: scratch (table)
-- returns: one row a scratch table that a run with --keep-scratch kept in the private schema
CREATE TABLE IF NOT EXISTS {{ scratch | table }} (
    release TEXT NOT NULL
    , place INTEGER NOT NULL
    , stage TEXT NOT NULL
    , statement TEXT NOT NULL
    , name TEXT NOT NULL
    , n BIGINT NOT NULL
    , seconds DOUBLE NOT NULL
)
