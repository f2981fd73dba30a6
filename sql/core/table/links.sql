-- name: table/links
-- params: rows (table with columns rid and link), beside (columns that are hashed with the
--   link; none: the link is the hash of what a row has)
-- returns: n bigint, mark text: a sum of the hashes, equal for equal multisets of rows with the same row ids
SELECT
    COUNT(*) AS n
    , CAST(COALESCE(
        SUM(CAST(HASH(r.rid, r.link{% for column in beside %}, r.{{ column | ident }}{% endfor %}) AS HUGEINT)), 0
    ) AS VARCHAR) AS mark
FROM {{ rows | table }} AS r
