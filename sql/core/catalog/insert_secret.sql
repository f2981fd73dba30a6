-- name: catalog/insert_secret
-- params: secrets (table)
-- returns: nothing
INSERT INTO {{ secrets | table }} (release, secret)
VALUES (:release, :secret)
