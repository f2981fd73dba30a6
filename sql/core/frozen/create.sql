-- name: frozen/create
-- params: made (table to make), entered (table)
-- returns: a table of the lineage with its first rows. Not made empty and filled
--   afterwards: with several threads DuckDB 2.0 loses 122,880 rows and more that are
--   inserted in the transaction in which CREATE TABLE AS made the table without rows
CREATE TABLE {{ made | table }} AS
SELECT e.*
FROM {{ entered | table }} AS e
