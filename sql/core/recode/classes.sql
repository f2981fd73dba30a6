-- name: recode/classes
-- params: boxes (table)
-- returns: class integer: every class once, in the method's order
SELECT CAST(b.class AS INTEGER) AS class
FROM {{ boxes | table }} AS b
WHERE b.class IS NOT NULL
ORDER BY b.class
