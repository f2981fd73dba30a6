-- name: freeform/surest
-- params: edges (scratch table of rid, box), classed (table of class, the drawn box, and
--   values), alias (a sensitive column), k (rows that fit a box)
-- returns: mean, worst (double): over rows, the share of the most frequent value among
--   those that are published in the row's boxes
SELECT AVG(m.share) AS mean, MAX(m.share) AS worst
FROM (
    SELECT v.rid AS rid, CAST(MAX(v.n) AS DOUBLE) / {{ k }} AS share
    FROM (
        SELECT e.rid AS rid, s.{{ alias }} AS value, COUNT(*) AS n
        FROM {{ edges | table }} AS e
        JOIN {{ classed | table }} AS s ON s.class = e.box
        GROUP BY e.rid, s.{{ alias }}
    ) AS v
    GROUP BY v.rid
) AS m
