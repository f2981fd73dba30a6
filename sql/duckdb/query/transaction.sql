-- name: query/transaction
-- params: none
-- returns: the number of the transaction: another one for each statement, unless the caller has opened one
SELECT TXID_CURRENT() AS number
