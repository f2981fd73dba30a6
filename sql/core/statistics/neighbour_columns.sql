-- name: statistics/neighbour_columns
-- params: metadata (table of metadata of a release of rows)
-- returns: column_name, role, kind, published, declared text: a row for each column, and
--   that of the release, whose name is ''
SELECT m.column_name AS column_name, m.role AS role, m.kind AS kind, m.published AS published, m.declared AS declared
FROM {{ metadata | table }} AS m
