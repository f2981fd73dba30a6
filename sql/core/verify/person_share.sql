-- name: verify/person_share
-- params: classed (table), groups ({table, key, group}), person (alias of the stage)
-- returns: share double: the largest part of a class's rows, as a reader sees classes, that are one person's
SELECT MAX(CAST(c.n AS DOUBLE) / CAST(c.total AS DOUBLE)) AS share
FROM (
    SELECT COUNT(*) AS n, SUM(COUNT(*)) OVER (PARTITION BY r.{{ groups.group }}) AS total
    FROM {{ classed | table }} AS s
    JOIN {{ groups.table | table }} AS r ON r.{{ groups.key }} = s.class
    GROUP BY r.{{ groups.group }}, s.{{ person }}
) AS c
