-- name: table/rows_of_code
-- params: domain (table)
-- returns: n bigint: the rows that have the value of code :code
SELECT d.n AS n
FROM {{ domain | table }} AS d
WHERE d.code = :code
