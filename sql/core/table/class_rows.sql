-- name: table/class_rows
-- params: classed (table)
-- returns: n bigint: rows of class :class
SELECT COUNT(*) AS n
FROM {{ classed | table }} AS s
WHERE s.class = :class
