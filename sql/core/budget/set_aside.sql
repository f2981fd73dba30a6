-- name: budget/set_aside
-- params: ledger (table)
-- returns: nothing; the row :seq of :budget is left out, as the recovery that follows has it
DELETE FROM {{ ledger | table }} WHERE budget = :budget AND seq = :seq
