-- name: loss/cumulated
-- params: cumulated (table to make), domain (table)
-- returns: code integer, n bigint, upto bigint: rows of the source with the code, and with it or a lower one
CREATE {{ cumulated | scratch }} AS
SELECT d.code AS code, CAST(d.n AS BIGINT) AS n, CAST(SUM(d.n) OVER (ORDER BY d.code) AS BIGINT) AS upto
FROM {{ domain | table }} AS d
