-- name: frozen/add_column
-- params: classes (the lineage's), column, type
ALTER TABLE {{ classes | table }} ADD COLUMN {{ column | ident }} {{ type }}
