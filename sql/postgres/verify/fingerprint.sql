-- name: verify/fingerprint
-- params: target (table), published (list of {source (r or s), name})
-- returns: n bigint, mark text: a sum of row hashes, equal for equal multisets of rows: hash(hash(class columns), kept columns)
-- hash_record_extended adds up its columns' hashes, each times a constant: a sum of it over rows would not see values that
-- change places between rows. Hashing it once more does (as numeric: the hash of a bigint keeps 32 bits of it).
SELECT COUNT(*) AS n, CAST(COALESCE(SUM(hash_numeric_extended(CAST(hash_record_extended(ROW(hash_record_extended(ROW({% for c in published if c.source == "r" %}{{ ", " if not loop.first }}t.{{ c.name | ident }}{% endfor %}), 0){% for c in published if c.source == "s" %}, t.{{ c.name | ident }}{% endfor %}), 0) AS numeric), 0)), 0) AS text) AS mark
FROM {{ target | table }} AS t
