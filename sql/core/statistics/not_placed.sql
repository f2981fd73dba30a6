-- name: statistics/not_placed
-- params: placed (table, as statistics/placed makes it), linked (table of link)
-- returns: missing bigint (rows that the release of rows does not have), more bigint (rows
--   that it has, and the source has not)
SELECT
    (SELECT CAST(COALESCE(SUM(p.n), 0) AS BIGINT) FROM {{ placed | table }} AS p WHERE p.class = -2) AS missing
    , (SELECT COUNT(*) FROM {{ linked | table }} AS l)
        - (SELECT CAST(COALESCE(SUM(q.n), 0) AS BIGINT) FROM {{ placed | table }} AS q WHERE q.class > -2) AS more
