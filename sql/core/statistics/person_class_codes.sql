-- name: statistics/person_class_codes
-- params: listed (table, as statistics/person_classes makes it)
-- returns: person bigint, atom bigint, class bigint, times bigint; in the order of persons, classes and atoms
SELECT p.person AS person, p.atom AS atom, p.class AS class, p.times AS times
FROM {{ listed | table }} AS p
ORDER BY p.person, p.class, p.atom
