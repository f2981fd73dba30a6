-- name: statistics/least_of_classes
-- params: raised (table to make), least (as statistics/least makes it), inside (as statistics/inside
--   makes it), atoms (table of parts), needs (as statistics/needs makes it), neighbour (list of {place})
-- returns: cell bigint, least bigint: where it is more, the rows that readers of the classes know to be
--   in the cell: of each class the kinds that are wholly inside, or as many needs of a column as are
CREATE {{ raised | scratch }} AS
WITH kinds AS (
    SELECT w.cell AS cell, w.class AS class, CAST(SUM(w.n) AS BIGINT) AS sure
    FROM (
        SELECT i.cell AS cell, a.class AS class, a.kind AS kind, COUNT(*) AS parts, SUM(a.n) AS n
        FROM {{ inside | table }} AS i
        JOIN {{ atoms | table }} AS a ON a.atom = i.atom
        WHERE a.class >= 0
        GROUP BY i.cell, a.class, a.kind
    ) AS w
    JOIN (SELECT b.kind AS kind, COUNT(*) AS parts FROM {{ atoms | table }} AS b GROUP BY b.kind) AS t
        ON t.kind = w.kind AND t.parts = w.parts
    GROUP BY w.cell, w.class
)
{% for c in neighbour %}
, needed{{ c.place }} AS (
    SELECT w.cell AS cell, w.class AS class, COUNT(*) AS sure
    FROM (
        SELECT i.cell AS cell, a.class AS class, a.r{{ c.place }} AS rank, COUNT(*) AS parts
        FROM {{ inside | table }} AS i
        JOIN {{ atoms | table }} AS a ON a.atom = i.atom
        GROUP BY i.cell, a.class, a.r{{ c.place }}
    ) AS w
    JOIN (
        SELECT b.class AS class, b.r{{ c.place }} AS rank, COUNT(*) AS parts
        FROM {{ atoms | table }} AS b
        GROUP BY b.class, b.r{{ c.place }}
    ) AS t
        ON t.class = w.class AND t.rank = w.rank AND t.parts = w.parts
    JOIN {{ needs | table }} AS n ON n.class = w.class AND n.rank = w.rank AND n.place = {{ c.place }} AND n.known = 1
    GROUP BY w.cell, w.class
)
{% endfor %}
, sure AS (
    SELECT u.cell AS cell, u.class AS class, MAX(u.sure) AS sure
    FROM (
        SELECT k.cell AS cell, k.class AS class, k.sure AS sure FROM kinds AS k
{% for c in neighbour %}
        UNION ALL
        SELECT m.cell AS cell, m.class AS class, m.sure AS sure FROM needed{{ c.place }} AS m
{% endfor %}
    ) AS u
    GROUP BY u.cell, u.class
)
SELECT l.cell AS cell, CASE WHEN s.sure > l.least THEN s.sure ELSE l.least END AS least
FROM {{ least | table }} AS l
LEFT JOIN (SELECT x.cell AS cell, CAST(SUM(x.sure) AS BIGINT) AS sure FROM sure AS x GROUP BY x.cell) AS s
    ON s.cell = l.cell
