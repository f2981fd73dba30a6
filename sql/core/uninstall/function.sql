-- name: uninstall/function
-- params: schema (as SQL), function (its name)
-- returns: nothing
DROP FUNCTION IF EXISTS {{ schema }}.{{ function }}
