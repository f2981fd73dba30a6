-- name: table/links
-- params: rows (table with a column link, the hash of what a row has)
-- returns: n bigint, mark text: a sum of the hashes, equal for equal multisets of rows
SELECT COUNT(*) AS n, CAST(COALESCE(SUM(CAST(r.link AS HUGEINT)), 0) AS VARCHAR) AS mark
FROM {{ rows | table }} AS r
