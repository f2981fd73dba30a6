-- name: persons/usual_rows
-- params: usual (table made by persons/usual)
-- returns: rows bigint: how many rows have the value that is usual for their person
SELECT CAST(SUM(u.n) AS BIGINT) AS "rows"
FROM {{ usual | table }} AS u
