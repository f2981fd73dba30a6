-- name: statistics/totals
-- params: rows, atoms, cells (tables)
-- returns: n bigint (rows), persons bigint, of_atoms bigint (persons summed over the atoms), atoms bigint, cells bigint
SELECT
    (SELECT COUNT(*) FROM {{ rows | table }} AS r) AS n
    , (SELECT COUNT(DISTINCT r.person) FROM {{ rows | table }} AS r) AS persons
    , (SELECT CAST(COALESCE(SUM(a.persons), 0) AS BIGINT) FROM {{ atoms | table }} AS a) AS of_atoms
    , (SELECT COUNT(*) FROM {{ atoms | table }} AS a) AS atoms
    , (SELECT COUNT(*) FROM {{ cells | table }} AS c) AS cells
