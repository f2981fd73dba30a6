-- name: catalog/delete_scratch
-- params: scratch (table)
-- returns: nothing; one kept table is gone
DELETE FROM {{ scratch | table }}
WHERE name = :name
