-- name: approvals/create
-- params: approvals (table)
-- returns: one row an approval or a revocation, in the order of number; never a cell
--   value: the policy's value lists are hashes
CREATE TABLE IF NOT EXISTS {{ approvals | table }} (
    number INTEGER NOT NULL
    , release TEXT NOT NULL
    , version INTEGER
    , action TEXT NOT NULL
    , approver TEXT NOT NULL
    , given_at TEXT NOT NULL
    , given_by TEXT NOT NULL
    , until TEXT
    , terms TEXT
    , policy TEXT NOT NULL
    , policy_hash TEXT NOT NULL
    , figures TEXT NOT NULL
    , signature TEXT
)
