-- name: catalog/version
-- params: metadata (table)
-- returns: published text: JSON facts of the release a file holds
SELECT m.published AS published
FROM {{ metadata | table }} AS m
WHERE m.column_name = :column
