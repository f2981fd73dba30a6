-- name: catalog/report
-- params: catalog (table)
-- returns: nothing
UPDATE {{ catalog | table }} SET report = :report
WHERE release = :release AND version = :version
