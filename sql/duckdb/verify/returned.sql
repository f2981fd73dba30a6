-- name: verify/returned
-- params: returned (table: rows of the published table, read back from the database of the
--   readers), written (table: the rows that were verified)
-- returns: number of rows in one table and not in the other, bigint each
SELECT
    (SELECT COUNT(*) FROM (FROM {{ returned | table }} EXCEPT ALL FROM {{ written | table }}) AS a) AS added
    , (SELECT COUNT(*) FROM (FROM {{ written | table }} EXCEPT ALL FROM {{ returned | table }}) AS b) AS lost
