-- name: catalog/secret
-- params: secrets (table)
-- returns: secret text of one release
SELECT s.secret AS secret
FROM {{ secrets | table }} AS s
WHERE s.release = :release
