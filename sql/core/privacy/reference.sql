-- name: privacy/reference
-- params: whole (table of all rows), value (column)
-- returns: value, n bigint: rows of each value
SELECT t.{{ value | ident }} AS value, COUNT(*) AS n
FROM {{ whole | table }} AS t
GROUP BY t.{{ value | ident }}
