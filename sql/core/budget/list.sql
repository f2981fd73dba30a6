-- name: budget/list
-- params: ledger (table)
-- returns: budget, seq, event, body, chain, own (1: this database wrote it), by budget and seq
SELECT l.budget AS budget, l.seq AS seq, l.event AS event, l.body AS body, l.chain AS chain, l.own AS own
FROM {{ ledger | table }} AS l
ORDER BY l.budget, l.seq
