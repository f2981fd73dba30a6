-- name: catalog/places
-- params: catalog (table)
-- returns: of every published version the names by which queries mean it; newest last
SELECT c.release AS release, c.source AS source, c.view_schema AS view_schema, c.view_name AS view_name, c.file AS file
FROM {{ catalog | table }} AS c
WHERE c.status = 'published'
ORDER BY c.release, c.version
