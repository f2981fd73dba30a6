-- name: table/links
-- params: rows (table with a column link), beside (columns that are hashed with the link; none: the link is the hash of what a row has)
-- returns: n bigint, mark text: a sum of the hashes, equal for equal multisets of rows
SELECT COUNT(*) AS n, CAST(COALESCE(SUM(CAST({% if beside %}HASH(r.link{% for column in beside %}, r.{{ column | ident }}{% endfor %}){% else %}r.link{% endif %} AS HUGEINT)), 0) AS VARCHAR) AS mark
FROM {{ rows | table }} AS r
