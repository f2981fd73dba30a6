-- name: recode/nodes
-- params: found (table to make), spans, nodes (tables), column (code column), nulls (bool)
-- returns: low, high integer, label text, leaves integer: the lowest node over every span of a hierarchy column
CREATE {{ found | scratch }} AS
SELECT b.low AS low, b.high AS high, n.label AS label, n.leaves AS leaves
FROM (
    SELECT p.low AS low, p.high AS high, MIN(n.level) AS level
    FROM (
        SELECT s.lo_{{ column }} AS low, s.hi_{{ column }} AS high
        FROM {{ spans | table }} AS s
{% if nulls %}
        WHERE s.lo_{{ column }} > 0
{% endif %}
        GROUP BY s.lo_{{ column }}, s.hi_{{ column }}
    ) AS p
    JOIN {{ nodes | table }} AS n ON n.low <= p.low AND n.high >= p.high
    GROUP BY p.low, p.high
) AS b
JOIN {{ nodes | table }} AS n ON n.level = b.level AND n.low <= b.low AND n.high >= b.high
