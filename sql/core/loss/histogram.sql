-- name: loss/histogram
-- params: histogram (table to make), classed (table), value (SA code column)
-- returns: class, value integer, n bigint: rows of the classes by sensitive value
CREATE {{ histogram | scratch }} AS
SELECT s.class AS class, s.{{ value }} AS value, COUNT(*) AS n
FROM {{ classed | table }} AS s
GROUP BY s.class, s.{{ value }}
