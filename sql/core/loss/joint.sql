-- name: loss/joint
-- params: joint (table to make), work (table), column (QI code column), value (SA code column)
-- returns: code, value integer, n bigint: rows of the source by both
CREATE {{ joint | scratch }} AS
SELECT w.{{ column }} AS code, w.{{ value }} AS value, COUNT(*) AS n
FROM {{ work | table }} AS w
GROUP BY w.{{ column }}, w.{{ value }}
