-- name: refresh/fingerprint
-- params: source (table), columns (list of {name, as_text}, at least one)
-- returns: n bigint, mark text: a sum of row hashes that differ from installation to installation (:secret); equal for equal multisets of rows
SELECT COUNT(*) AS n, CAST(COALESCE(SUM(CAST(HASH(:secret{% for c in columns %}, s.{{ c.name | ident }}{% endfor %}) AS HUGEINT)), 0) AS VARCHAR) AS mark
FROM {{ source | table }} AS s
