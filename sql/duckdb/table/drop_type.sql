-- name: table/drop_type
-- params: target (type)
-- returns: nothing
DROP TYPE IF EXISTS {{ target | table }}
