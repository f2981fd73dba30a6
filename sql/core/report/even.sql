-- name: report/even
-- params: even (table to make), spread (table)
-- returns: part, code, share double: the rows of a part spread evenly over the values that the source holds of it
CREATE {{ even | scratch }} AS
SELECT w.part AS part, w.code AS code, CAST(1 AS DOUBLE) / COUNT(*) OVER (PARTITION BY w.part) AS share
FROM {{ spread | table }} AS w
