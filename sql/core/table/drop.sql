-- name: table/drop
-- params: target (table)
-- returns: nothing
DROP TABLE IF EXISTS {{ target | table }}
