-- name: history/fitted
-- params: fitted (table to make), history (table), edges (scratch table of rid, box),
--   classed (table of rid, person, class: the box), columns (its columns s1.. and p1..)
-- returns: the same, and boxes integer[]: all boxes that the row fits, of which class is
--   the one that it is published in. In the
-- history that is given, boxes that look alike are one class.
CREATE {{ fitted | scratch }} AS
SELECT
    h.person AS person
    , b.class AS class
    , h.mark AS mark
{% for c in columns %}
    , h.{{ c }} AS {{ c }}
{% endfor %}
    , b.boxes AS boxes
FROM {{ history | table }} AS h
JOIN (
    SELECT k.person AS person, CAST(k.class AS BIGINT) AS class, ARRAY_AGG(e.box ORDER BY e.box) AS boxes
    FROM {{ edges | table }} AS e
    JOIN {{ classed | table }} AS k ON k.rid = e.rid
    GROUP BY k.person, k.class
) AS b ON b.person = h.person
