-- name: frozen/moved_rows
-- params: made (table to make), moved (table)
-- returns: the rows of which only quasi columns changed
CREATE {{ made | scratch }} AS
SELECT m.*
FROM {{ moved | table }} AS m
WHERE NOT m.changed
