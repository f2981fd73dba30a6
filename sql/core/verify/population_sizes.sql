-- name: verify/population_sizes
-- params: target (table of one row a cell), rows, population (columns)
-- returns: n bigint (rows of the release in the cell), population bigint (rows of the population)
SELECT CAST(t.{{ rows | ident }} AS BIGINT) AS n, CAST(t.{{ population | ident }} AS BIGINT) AS population
FROM {{ target | table }} AS t
