-- name: catalog/add_column
-- params: catalog (table), column (name)
-- returns: nothing; a catalog that an older sqlanon made gets what it lacks
ALTER TABLE {{ catalog | table }} ADD COLUMN {{ column | ident }} TEXT
