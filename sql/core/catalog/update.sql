-- name: catalog/update
-- params: catalog (table)
-- returns: nothing
UPDATE {{ catalog | table }} SET status = :status
WHERE release = :release AND version = :version
