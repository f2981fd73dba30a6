-- name: verify/fingerprint
-- params: target (table), columns (published names)
-- returns: n bigint, mark text: a sum of row hashes, equal for equal multisets of rows
SELECT COUNT(*) AS n, CAST(COALESCE(SUM(CAST(HASH({% for c in columns %}{{ ", " if not loop.first }}t.{{ c | ident }}{% endfor %}) AS HUGEINT)), 0) AS VARCHAR) AS mark
FROM {{ target | table }} AS t
