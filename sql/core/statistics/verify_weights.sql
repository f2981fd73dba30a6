-- name: statistics/verify_weights
-- params: witness, patterns (tables), atoms (table of parts), place (of a column), p, q
-- returns: failing bigint: values of the column that weigh more in a class of a witness
--   than the class's persons times q / p; see statistics/verify_class_weights
WITH g AS (
    SELECT r.pattern AS pattern, a.class AS class, a.kind AS kind, MIN(a.v{{ place }}_0) AS value, SUM(r.times) AS n
    FROM {{ patterns | table }} AS r
    JOIN {{ atoms | table }} AS a ON a.atom = r.atom
    WHERE a.class >= 0
    GROUP BY r.pattern, a.class, a.kind
)
, o AS (
    SELECT g.pattern AS pattern, g.class AS class, SUM(g.n) AS n
    FROM g
    GROUP BY g.pattern, g.class
)
, moved AS (
    SELECT w.witness AS witness, o.class AS class, SUM(w.change) AS persons
    FROM {{ witness | table }} AS w
    JOIN o ON o.pattern = w.pattern
    GROUP BY w.witness, o.class
)
, heavy AS (
    SELECT
        x.witness AS witness
        , g.class AS class
        , g.value AS value
        , SUM(x.change * CAST(FLOOR(CAST(g.n * 720720 + o.n - 1 AS DOUBLE) / CAST(o.n AS DOUBLE)) AS BIGINT)) AS weight
    FROM {{ witness | table }} AS x
    JOIN g ON g.pattern = x.pattern
    JOIN o ON o.pattern = g.pattern AND o.class = g.class
    GROUP BY x.witness, g.class, g.value
)
, kept AS (
    SELECT d.class AS class, d.value AS value, SUM(d.weight) AS weight, MIN(d.persons) AS persons
    FROM (
        SELECT
            b.class AS class
            , b.kind AS kind
            , MIN(b.v{{ place }}_0) AS value
            , MAX(b.weight) AS weight
            , MIN(b.class_persons) AS persons
        FROM {{ atoms | table }} AS b
        WHERE b.class >= 0
        GROUP BY b.class, b.kind
    ) AS d
    GROUP BY d.class, d.value
)
SELECT COUNT(*) AS failing
FROM kept AS k
JOIN moved AS m ON m.class = k.class
LEFT JOIN heavy AS h ON h.witness = m.witness AND h.class = k.class AND h.value = k.value
WHERE k.weight IS NULL OR (k.weight + COALESCE(h.weight, 0)) * {{ p }} > (k.persons + m.persons) * 720720 * {{ q }}
