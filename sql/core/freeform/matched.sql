-- name: freeform/matched
-- params: matched (table to make), edges (table of rid, box), classed (table), columns
--   (aliases in it, and code columns)
-- returns: class (the box), rid, the columns: every row once for each box that it fits
CREATE {{ matched | scratch }} AS
SELECT e.box AS class, s.rid AS rid{% for c in columns %}, s.{{ c }} AS {{ c }}{% endfor %}

FROM {{ edges | table }} AS e
JOIN {{ classed | table }} AS s ON s.rid = e.rid
