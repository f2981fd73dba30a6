-- name: table/drop_numbers
-- params: numbers (sequence)
-- returns: nothing
DROP SEQUENCE {{ numbers | table }}
