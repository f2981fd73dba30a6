-- name: recode/nodes
-- params: found (table to make), spans, nodes (tables), column (code column), nulls
--   (bool), height (of the tree), leveled (bool: spans have a level)
-- returns: low, high integer, label text, leaves, node_low, node_high (codes), node_level integer: the lowest node over
--   every span of a hierarchy column; if leveled also at integer: the level of the node, -1 where the lowest was asked
CREATE {{ found | scratch }} AS
SELECT b.low AS low, b.high AS high{% if leveled %}, -1 AS at{% endif %}, n.label AS label, n.leaves AS leaves
    , n.low AS node_low, n.high AS node_high, n.level AS node_level
FROM (
    SELECT p.low AS low, p.high AS high, MIN(n.level) AS level
    FROM (
        SELECT s.lo_{{ column }} AS low, s.hi_{{ column }} AS high
        FROM {{ spans | table }} AS s
{% if nulls or leveled %}
        WHERE {{ "s.lo_" ~ column ~ " > 0" if nulls else "TRUE" }}{{ " AND s.at_" ~ column ~ " < 0" if leveled }}
{% endif %}
        GROUP BY s.lo_{{ column }}, s.hi_{{ column }}
    ) AS p
    JOIN {{ nodes | table }} AS n ON n.low <= p.low AND n.high >= p.high
    GROUP BY p.low, p.high
) AS b
JOIN {{ nodes | table }} AS n ON n.level = b.level AND n.low <= b.low AND n.high >= b.high
{% if leveled %}
UNION ALL
SELECT p.low AS low, p.high AS high, p.at AS at, n.label AS label, n.leaves AS leaves
    , n.low AS node_low, n.high AS node_high, n.level AS node_level
FROM (
    SELECT s.lo_{{ column }} AS low, s.hi_{{ column }} AS high, LEAST(s.at_{{ column }}, {{ height }}) AS at
    FROM {{ spans | table }} AS s
    WHERE s.at_{{ column }} >= 0
    GROUP BY s.lo_{{ column }}, s.hi_{{ column }}, LEAST(s.at_{{ column }}, {{ height }})
) AS p
JOIN {{ nodes | table }} AS n ON n.level = p.at AND n.low = p.low AND n.high = p.high
{% endif %}
