-- name: statistics/verify_numbers
-- params: cells, atoms (tables)
-- returns: failing bigint: cells and atoms that have the number of another one
SELECT
    (
        SELECT COUNT(*) - COUNT(DISTINCT c.cell)
        FROM {{ cells | table }} AS c
    ) + (SELECT COUNT(*) - COUNT(DISTINCT a.atom) FROM {{ atoms | table }} AS a) AS failing
