-- name: loss/asked
-- params: asked (table to make), histogram, regions (tables), column (code column)
-- returns: value, low, high integer, n bigint: rows of the classes by sensitive value and
--   interval of codes that is published
CREATE {{ asked | scratch }} AS
SELECT v.value AS value, g.first_{{ column }} AS low, g.last_{{ column }} AS high, CAST(SUM(v.n) AS BIGINT) AS n
FROM {{ histogram | table }} AS v
JOIN {{ regions | table }} AS g ON g.class = v.class
WHERE g.first_{{ column }} >= 0
GROUP BY v.value, g.first_{{ column }}, g.last_{{ column }}
