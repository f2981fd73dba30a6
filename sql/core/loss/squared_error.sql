-- name: loss/squared_error
-- params: classed (table), groups ({table, key, group}), domain (table), column (its code
--   column), first (the least code of a value), starred (a class or none)
-- returns: inside double, kept double: over the rows with a value, a group and no star,
--   the squared distances from the means of their groups, and from the mean of the source
SELECT
    CAST(COALESCE(SUM(g.squares - g.sums * g.sums / g.n), 0) AS DOUBLE) AS inside
    , CAST(COALESCE(SUM(g.squares), 0) AS DOUBLE) AS kept
FROM (
    SELECT
        CAST(COUNT(*) AS DOUBLE) AS n
        , SUM(d.ord - m.mean) AS sums
        , SUM((d.ord - m.mean) * (d.ord - m.mean)) AS squares
    FROM {{ classed | table }} AS s
    JOIN {{ groups.table | table }} AS r ON r.{{ groups.key }} = s.class
    JOIN {{ domain | table }} AS d ON d.code = s.{{ column }}
    CROSS JOIN (
        SELECT SUM(a.n * a.ord) / SUM(a.n) AS mean
        FROM {{ domain | table }} AS a
        WHERE a.code >= {{ first }}
    ) AS m
    WHERE d.code >= {{ first }}
{% if starred is not none %}
        AND s.class <> {{ starred }}
{% endif %}
    GROUP BY r.{{ groups.group }}
) AS g
