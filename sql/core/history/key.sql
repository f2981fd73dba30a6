-- name: history/key
-- params: stage (table)
-- returns: nulls bigint (rows whose key is NULL), repeats bigint (rows more than keys)
SELECT
    COUNT(*) - COUNT(s.person) AS nulls
    , COUNT(s.person) - COUNT(DISTINCT s.person) AS repeats
FROM {{ stage | table }} AS s
