-- name: statistics/verify_promised
-- params: witness, patterns (tables), atoms (table of parts), least (persons of a class,
--   at least), part, whole (so many of so many rows of a class a person may have, at most)
-- returns: few bigint (classes that a witness leaves with fewer persons than promised, or of no number of persons, or
--   more than rows; and parts of no class), large bigint (patterns of more rows of a class than one person may have)
SELECT
    (
        SELECT COUNT(*)
        FROM (
            SELECT w.witness AS witness, g.class AS class, SUM(w.change) AS change
            FROM {{ witness | table }} AS w
            JOIN (
                SELECT DISTINCT q.pattern AS pattern, a.class AS class
                FROM {{ patterns | table }} AS q
                JOIN {{ atoms | table }} AS a ON a.atom = q.atom
                WHERE a.class >= 0
            ) AS g ON g.pattern = w.pattern
            GROUP BY w.witness, g.class
        ) AS h
        JOIN (
            SELECT
                b.class AS class
                , MIN(b.class_persons) AS persons
                , SUM(b.n) AS n
                , COUNT(*) - COUNT(b.class_persons) AS unknown
            FROM {{ atoms | table }} AS b
            GROUP BY b.class
        ) AS c ON c.class = h.class
        WHERE c.unknown > 0 OR c.persons > c.n OR (h.change < 0 AND c.persons + h.change < {{ least }})
    ) + (SELECT COUNT(*) FROM {{ atoms | table }} AS x WHERE x.class IS NULL) AS few
    , (
        SELECT COUNT(*)
        FROM (
            SELECT r.pattern AS pattern, d.class AS class, SUM(r.times) AS n
            FROM {{ patterns | table }} AS r
            JOIN {{ atoms | table }} AS d ON d.atom = r.atom
            WHERE d.class >= 0
            GROUP BY r.pattern, d.class
        ) AS m
        JOIN (SELECT e.class AS class, SUM(e.n) AS n FROM {{ atoms | table }} AS e GROUP BY e.class) AS s
            ON s.class = m.class
        WHERE m.n * {{ whole }} > {{ part }} * s.n
    ) AS large
