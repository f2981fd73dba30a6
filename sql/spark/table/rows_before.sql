-- name: table/rows_before
-- params: before (table to make), placed (table with _sqlanon_at)
-- returns: part bigint, before bigint: how many rows are in parts before it
CREATE {{ before | scratch }} AS
SELECT c.part AS part, SUM(c.n) OVER (ORDER BY c.part ROWS UNBOUNDED PRECEDING) - c.n AS before
FROM (
    SELECT SHIFTRIGHT(p._sqlanon_at, 33) AS part, COUNT(*) AS n
    FROM {{ placed | table }} AS p
    GROUP BY SHIFTRIGHT(p._sqlanon_at, 33)
) AS c
