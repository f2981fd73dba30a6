-- name: frozen/exits
-- params: exits (table to make), divided (rows with class and part), groups ({table, key, group}: the cohort's classes)
-- returns: person, place (the class), number (of the exit group: larger than that of any class)
CREATE {{ exits | scratch }} AS
SELECT
    x.person AS person
    , x.class AS place
    , CAST(DENSE_RANK() OVER (ORDER BY x.class, x.part) + m.last AS BIGINT) AS number
FROM {{ divided | table }} AS x
CROSS JOIN (SELECT MAX(g.{{ groups.group }}) AS last FROM {{ groups.table | table }} AS g) AS m
