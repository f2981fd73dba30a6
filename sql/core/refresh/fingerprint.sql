-- name: refresh/fingerprint
-- params: source (table), columns (names, at least one)
-- returns: n bigint, mark text: a sum of row hashes that differ from installation to installation (:secret); equal for equal multisets of rows
SELECT COUNT(*) AS n, CAST(COALESCE(SUM(CAST(HASH(:secret{% for name in columns %}, s.{{ name | ident }}{% endfor %}) AS HUGEINT)), 0) AS VARCHAR) AS mark
FROM {{ source | table }} AS s
