-- name: datacube/unknown
-- params: runs (table)
-- returns: n bigint: parts with an end that the source does not hold
SELECT COUNT(*) AS n
FROM {{ runs | table }} AS r
WHERE r.low IS NULL OR r.high IS NULL OR r.size IS NULL
