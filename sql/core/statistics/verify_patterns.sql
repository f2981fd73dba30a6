-- name: statistics/verify_patterns
-- params: listed (table, as statistics/verify_person_rows makes it), patterns (table)
-- returns: failing bigint (patterns that other numbers of persons have, and persons who
--   have several), large bigint (patterns of more rows than any person has)
WITH q AS (
    SELECT p.pattern AS pattern, COUNT(*) AS many, CAST(SUM(p.times) AS BIGINT) AS n, MAX(p.persons) AS persons
    FROM {{ patterns | table }} AS p
    GROUP BY p.pattern
)
, s AS (
    SELECT c.person AS person, COUNT(*) AS many, CAST(SUM(c.times) AS BIGINT) AS n
    FROM {{ listed | table }} AS c
    GROUP BY c.person
)
, m AS (
    SELECT d.person AS person, r.pattern AS pattern, COUNT(*) AS many
    FROM {{ listed | table }} AS d
    JOIN {{ patterns | table }} AS r ON r.atom = d.atom AND r.times = d.times
    GROUP BY d.person, r.pattern
)
, j AS (
    SELECT m.person AS person, m.pattern AS pattern
    FROM m
    JOIN q ON q.pattern = m.pattern AND q.many = m.many
    JOIN s ON s.person = m.person AND s.many = m.many
)
SELECT
    (
        SELECT COUNT(*)
        FROM q
        LEFT JOIN (SELECT j.pattern AS pattern, COUNT(*) AS persons FROM j GROUP BY j.pattern) AS f
            ON f.pattern = q.pattern
        WHERE q.persons <> COALESCE(f.persons, 0)
    )
    + (SELECT COUNT(*) FROM (SELECT j.person AS person FROM j GROUP BY j.person HAVING COUNT(*) > 1) AS t) AS failing
    , (SELECT COUNT(*) FROM q WHERE q.n > (SELECT MAX(s.n) FROM s)) AS large
