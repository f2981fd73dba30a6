-- name: query/kept
-- params: kept (table made by query/classes), rows (the name of its column)
-- returns: the number of classes, and of rows
SELECT COUNT(*) AS classes, COALESCE(SUM({{ rows | ident }}), 0) AS total
FROM {{ kept | table }}
