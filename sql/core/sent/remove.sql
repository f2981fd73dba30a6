-- name: sent/remove
-- params: received (table)
-- returns: nothing; the version of this token has no tables any more
DELETE FROM {{ received | table }}
WHERE token = :token
