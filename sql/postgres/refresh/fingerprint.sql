-- name: refresh/fingerprint
-- params: source (table), columns (names, at least one)
-- returns: n bigint, mark text: a sum of row hashes that differ from installation to installation (:secret); equal for equal multisets of rows
-- Through text, which every type has. The hash is hashed once more: see verify/fingerprint.
SELECT COUNT(*) AS n, CAST(COALESCE(SUM(CAST(hash_numeric_extended(CAST(hash_record_extended(ROW(CAST(:secret AS text){% for name in columns %}, CAST(s.{{ name | ident }} AS text){% endfor %}), 0) AS numeric), 0) AS numeric)), 0) AS text) AS mark
FROM {{ source | table }} AS s
