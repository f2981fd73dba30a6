-- name: attack/persons
-- params: linked (a version's private table of class and persons), person (its column)
-- returns: place integer (a class), number integer: each person of a class once, numbered 0, 1, ..
SELECT CAST(d.place AS INTEGER) AS place, CAST(DENSE_RANK() OVER (ORDER BY d.number) - 1 AS INTEGER) AS number
FROM (
    SELECT t.class AS place, t.{{ person }} AS number
    FROM {{ linked | table }} AS t
    WHERE t.class IS NOT NULL
    GROUP BY t.class, t.{{ person }}
) AS d
