-- name: frozen/create
-- params: made (table to make), like (table)
-- returns: an empty table with the columns of another one
CREATE TABLE {{ made | table }} AS
SELECT t.*
FROM {{ like | table }} AS t
WHERE 1 = 0
