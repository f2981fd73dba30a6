-- name: datacube/planned
-- Of joins over several columns PostgreSQL expects one row, and would take the next join
-- in nested loops, over the square of the rows.
SELECT set_config('enable_nestloop', 'off', true) AS planned
