-- name: frozen/fill_column
-- params: classes (the lineage's), column, filled (SQL over its columns)
-- returns: nothing; the column has what it would have been in versions whose rows had no NULL
UPDATE {{ classes | table }} AS r SET {{ column | ident }} = {{ filled }}
WHERE r.{{ column | ident }} IS NULL
