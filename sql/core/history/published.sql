-- name: history/published
-- params: history (table)
-- returns: n bigint: the rows that were published
SELECT COUNT(h.class) AS n
FROM {{ history | table }} AS h
