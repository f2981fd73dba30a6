-- name: datacube/planned
-- params: none
-- returns: a row to ignore: what an engine's planner has to know, for this transaction, before cubes are compared
-- Of joins over several columns PostgreSQL expects one row, and would take the next join in nested loops, over the square of the rows.
SELECT set_config('enable_nestloop', 'off', true) AS planned
