-- name: catalog/files
-- params: catalog (table), :release
-- returns: the files that a release was published into, and under which view
SELECT DISTINCT c.file AS file, c.view_schema AS view_schema, c.view_name AS view_name
FROM {{ catalog | table }} AS c
WHERE c.release = :release AND c.file IS NOT NULL
ORDER BY file, view_schema, view_name
