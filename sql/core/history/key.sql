-- name: history/key
-- params: rows (table), key (its column of hashes of keys)
-- returns: nulls bigint (rows whose key is NULL), repeats bigint (rows more than keys)
SELECT
    COUNT(*) - COUNT(r.{{ key }}) AS nulls
    , COUNT(r.{{ key }}) - COUNT(DISTINCT r.{{ key }}) AS repeats
FROM {{ rows | table }} AS r
