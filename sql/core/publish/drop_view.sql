-- name: publish/drop_view
-- params: view
-- returns: nothing; never CASCADE: what depends on the view stops the run
DROP VIEW IF EXISTS {{ view | table }}
