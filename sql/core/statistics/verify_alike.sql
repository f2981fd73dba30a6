-- name: statistics/verify_alike
-- params: witness, patterns (tables), atoms (table of parts), apart (bool: a pattern has a number for each class)
-- returns: unlike bigint (kinds of parts of which not all patterns of one number have as
--   many rows, and patterns of no number, or of several, in a class or in all), changed
--   bigint (numbers of patterns of which a witness has more persons, or fewer)
WITH r AS (
    SELECT q.alike AS alike, q.pattern AS pattern, a.kind AS kind, CAST(SUM(q.times) AS BIGINT) AS n
    FROM {{ patterns | table }} AS q
    JOIN {{ atoms | table }} AS a ON a.atom = q.atom
    GROUP BY q.alike, q.pattern, a.kind
)
SELECT
    (
        SELECT COUNT(*)
        FROM (
            SELECT r.alike AS alike, r.kind AS kind, r.n AS n, COUNT(*) AS many
            FROM r
            GROUP BY r.alike, r.kind, r.n
        ) AS g
        JOIN (
            SELECT p.alike AS alike, COUNT(DISTINCT p.pattern) AS many
            FROM {{ patterns | table }} AS p
            GROUP BY p.alike
        ) AS t ON t.alike = g.alike
        WHERE g.many <> t.many
    )
    + (SELECT COUNT(*) FROM {{ patterns | table }} AS x WHERE x.alike IS NULL)
    + (
        SELECT COUNT(*)
        FROM (
            SELECT y.pattern AS pattern
            FROM {{ patterns | table }} AS y
            JOIN {{ atoms | table }} AS b ON b.atom = y.atom
            GROUP BY y.pattern{% if apart %}, b.class{% endif %}
            HAVING COUNT(DISTINCT y.alike) > 1
        ) AS s
    ) AS unlike
    , (
        SELECT COUNT(*)
        FROM (
            SELECT w.witness AS witness, d.alike AS alike
            FROM {{ witness | table }} AS w
            JOIN (SELECT DISTINCT z.pattern AS pattern, z.alike AS alike FROM {{ patterns | table }} AS z) AS d
                ON d.pattern = w.pattern
            GROUP BY w.witness, d.alike
            HAVING SUM(w.change) <> 0
        ) AS h
    ) AS changed
