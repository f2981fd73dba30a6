-- name: budget/insert
-- params: ledger (table)
-- returns: nothing
INSERT INTO {{ ledger | table }} (budget, seq, event, body, chain, own)
VALUES (:budget, :seq, :event, :body, :chain, :own)
