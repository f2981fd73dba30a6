-- name: statistics/batch
-- params: part (table to make), kept (private table with batches), batch (number of a version)
-- returns: the rows of a version
CREATE {{ part | scratch }} AS
SELECT k.*
FROM {{ kept | table }} AS k
WHERE k.batch = {{ batch }}
