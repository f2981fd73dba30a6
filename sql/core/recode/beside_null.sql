-- name: recode/beside_null
-- params: beside (table to make), spans, classed (tables), column (code column of an
--   ordered domain with NULL, which is code 0)
-- returns: class, least integer: of every class that has NULL and other values the least
--   code of these; their greatest is that of the span
CREATE {{ beside | scratch }} AS
SELECT s.class AS class, MIN(w.{{ column }}) AS least
FROM {{ spans | table }} AS s
JOIN {{ classed | table }} AS w ON w.class = s.class
WHERE s.lo_{{ column }} = 0 AND s.hi_{{ column }} > 0 AND w.{{ column }} > 0
GROUP BY s.class
