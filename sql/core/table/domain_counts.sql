-- name: table/domain_counts
-- params: domain (table)
-- returns: n bigint: rows of every value of a column, NULL's included
SELECT d.n AS n
FROM {{ domain | table }} AS d
ORDER BY d.code
