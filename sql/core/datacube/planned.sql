-- name: datacube/planned
-- params: none
-- returns: a row to ignore: what an engine's planner has to know, for this transaction, before cubes are compared
SELECT 1 AS planned
