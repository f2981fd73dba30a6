-- name: catalog/create_secrets
-- params: secrets (table)
-- returns: one row a release: what its keyed hashes are keyed with
CREATE TABLE IF NOT EXISTS {{ secrets | table }} (
    release TEXT NOT NULL
    , secret TEXT NOT NULL
)
