-- name: frozen/changed
-- params: moved (table)
-- returns: moved bigint (all of them), changed bigint: those of which a column changed that is published as it is
SELECT COUNT(*) AS moved, COALESCE(SUM(CASE WHEN m.changed THEN 1 ELSE 0 END), 0) AS changed
FROM {{ moved | table }} AS m
