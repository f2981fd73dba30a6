-- name: budget/create
-- params: ledger (table)
-- returns: one row an event of a budget, in a chain of hashes; rows are added, and never changed or deleted
CREATE TABLE IF NOT EXISTS {{ ledger | table }} (
    budget TEXT NOT NULL
    , seq INTEGER NOT NULL
    , event TEXT NOT NULL
    , body TEXT NOT NULL
    , chain TEXT NOT NULL
    , own INTEGER NOT NULL
    , PRIMARY KEY (budget, seq)
)
