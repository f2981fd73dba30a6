-- name: statistics/verify_class_persons
-- params: listed (table, as statistics/verify_person_parts makes it), atoms (table of parts)
-- returns: failing bigint: parts of which the class has other persons
SELECT COUNT(*) AS failing
FROM {{ atoms | table }} AS a
LEFT JOIN (
    SELECT b.class AS class, COUNT(DISTINCT p.person) AS persons
    FROM {{ listed | table }} AS p
    JOIN {{ atoms | table }} AS b ON b.atom = p.atom
    GROUP BY b.class
) AS f ON f.class = a.class
WHERE f.persons IS NULL OR a.class_persons IS NULL OR a.class_persons <> f.persons
