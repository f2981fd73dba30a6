-- name: loss/classification
-- params: classed (table), groups ({table, key, group}), value (sensitive column in the
--   stage), starred (a class or none)
-- returns: n bigint: over groups, the rows that do not have the group's most frequent value; the starred class aside
SELECT CAST(COALESCE(SUM(g.n - g.largest), 0) AS BIGINT) AS n
FROM (
    SELECT SUM(v.n) AS n, MAX(v.n) AS largest
    FROM (
        SELECT r.{{ groups.group }} AS place, COUNT(*) AS n
        FROM {{ classed | table }} AS s
        JOIN {{ groups.table | table }} AS r ON r.{{ groups.key }} = s.class
{% if starred is not none %}
        WHERE s.class <> {{ starred }}
{% endif %}
        GROUP BY r.{{ groups.group }}, s.{{ value }}
    ) AS v
    GROUP BY v.place
) AS g
