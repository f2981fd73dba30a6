-- name: report/reach
-- params: reach (table to make), spread, bins (tables)
-- returns: part, bin integer (coarse), share double: the share of the part's rows that is expected in the bin
CREATE {{ reach | scratch }} AS
SELECT w.part AS part, b.coarse AS bin, CAST(SUM(w.share) AS DOUBLE) AS share
FROM {{ spread | table }} AS w
JOIN {{ bins | table }} AS b ON b.code = w.code
GROUP BY w.part, b.coarse
