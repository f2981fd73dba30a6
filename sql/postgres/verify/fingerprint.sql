-- name: verify/fingerprint
-- params: target (table), columns (published names)
-- returns: n bigint, mark text: a sum of row hashes, equal for equal multisets of rows
SELECT COUNT(*) AS n, CAST(COALESCE(SUM(CAST(hash_record_extended(ROW({% for c in columns %}{{ ", " if not loop.first }}t.{{ c | ident }}{% endfor %}), 0) AS numeric)), 0) AS text) AS mark
FROM {{ target | table }} AS t
