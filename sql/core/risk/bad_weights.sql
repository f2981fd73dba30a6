-- name: risk/bad_weights
-- params: target (table), weight (column name), :most (weights above are refused)
-- returns: n bigint (rows whose weight is NULL, below 1, above the most, or not a number)
SELECT COUNT(*) AS n
FROM {{ target | table }} AS t
WHERE t.{{ weight | ident }} IS NULL
    OR CAST(t.{{ weight | ident }} AS DOUBLE) < 1
    OR CAST(t.{{ weight | ident }} AS DOUBLE) > :most
