-- name: statistics/verify_class_weights
-- params: listed (table, as statistics/verify_person_parts makes it), atoms (table of parts)
-- returns: failing bigint: parts of whose kind the persons of the class weigh something else. A person
--   weighs 720720 in a class, split over the person's rows there, and each kind's part is rounded up
SELECT COUNT(*) AS failing
FROM {{ atoms | table }} AS a
LEFT JOIN (
    SELECT
        k.kind AS kind
        , SUM(CAST(FLOOR(CAST(k.n * 720720 + o.n - 1 AS DOUBLE) / CAST(o.n AS DOUBLE)) AS BIGINT)) AS weight
    FROM (
        SELECT p.person AS person, b.class AS class, b.kind AS kind, SUM(p.times) AS n
        FROM {{ listed | table }} AS p
        JOIN {{ atoms | table }} AS b ON b.atom = p.atom
        GROUP BY p.person, b.class, b.kind
    ) AS k
    JOIN (
        SELECT q.person AS person, c.class AS class, SUM(q.times) AS n
        FROM {{ listed | table }} AS q
        JOIN {{ atoms | table }} AS c ON c.atom = q.atom
        GROUP BY q.person, c.class
    ) AS o ON o.person = k.person AND o.class = k.class
    GROUP BY k.kind
) AS f ON f.kind = a.kind
WHERE a.weight IS NULL OR a.weight <> COALESCE(f.weight, 0)
