-- name: verify/person_share
-- params: classed (table), groups ({table, key, group}), person (alias of the stage)
-- returns: share double: the largest part of a class's rows, as a reader sees classes, that are one person's
SELECT MAX(CAST(g.most AS DOUBLE) / CAST(g.total AS DOUBLE)) AS share
FROM (
    SELECT MAX(c.n) AS most, SUM(c.n) AS total
    FROM (
        SELECT r.{{ groups.group }} AS place, COUNT(*) AS n
        FROM {{ classed | table }} AS s
        JOIN {{ groups.table | table }} AS r ON r.{{ groups.key }} = s.class
        GROUP BY r.{{ groups.group }}, s.{{ person }}
    ) AS c
    GROUP BY c.place
) AS g
