-- name: frozen/add_column
-- params: classes (the lineage's), column, type
-- returns: nothing; the table has a column more
ALTER TABLE {{ classes | table }} ADD COLUMN {{ column | ident }} {{ type }}
