-- name: table/brought
-- params: stage (table to make), brought (table: staged rows of another database, with
--   _sqlanon_at), but (names of further columns that the stage lacks)
-- returns: rid integer, from 0, the columns of the staged rows
CREATE {{ stage | scratch }} AS
SELECT
    CAST(ROW_NUMBER() OVER () - 1 AS INTEGER) AS rid
    , b.* EXCLUDE (_sqlanon_at{% for c in but %}, {{ c | ident }}{% endfor %})
FROM {{ brought | table }} AS b
