-- name: history/alike
-- params: rows (table), key (its column of hashes of keys)
-- returns: nulls bigint (rows whose key is NULL), alike bigint: other rows whose key has
--   the hash of another row's. Keys that are equal are among them, and history/key counts
--   those: numbers are counted in half the time that texts take
SELECT
    COUNT(*) - COUNT(r.{{ key }}) AS nulls
    , COUNT(r.{{ key }}) - COUNT(DISTINCT CASE WHEN r.{{ key }} IS NOT NULL THEN HASH(r.{{ key }}) END) AS alike
FROM {{ rows | table }} AS r
