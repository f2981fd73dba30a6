-- name: sent/mark
-- params: received (table)
-- returns: nothing; the version of this token gets the status
UPDATE {{ received | table }} SET status = :status
WHERE token = :token
