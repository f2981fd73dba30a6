-- name: datacube/metadata
-- params: metadata (view)
-- returns: column_name, role, kind, format, published (JSON), declared (JSON or NULL): one row a column, '' for the release
SELECT m.column_name AS column_name, m.role AS role, m.kind AS kind, m.format AS format, m.published AS published, m.declared AS declared
FROM {{ metadata | table }} AS m
