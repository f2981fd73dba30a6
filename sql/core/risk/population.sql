-- name: risk/population
-- params: target (table), population (table), classes (column names of target), others
--   (the same columns of population, in the same order)
-- returns: n bigint (rows of target in a class, 0 where only the population has it), m
--   bigint (rows of population in it), classes bigint (how many have these n and m)
SELECT CAST(c.n AS BIGINT) AS n, CAST(c.m AS BIGINT) AS m, COUNT(*) AS classes
FROM (
    SELECT SUM(b.n) AS n, SUM(b.m) AS m
    FROM (
        SELECT {% for name in classes %}t.{{ name | ident }} AS g{{ loop.index }}, {% endfor %}1 AS n, 0 AS m
        FROM {{ target | table }} AS t
        UNION ALL
        SELECT {% for name in others %}p.{{ name | ident }} AS g{{ loop.index }}, {% endfor %}0 AS n, 1 AS m
        FROM {{ population | table }} AS p
    ) AS b
{% if classes %}
    GROUP BY {% for name in classes %}{{ ", " if not loop.first }}b.g{{ loop.index }}{% endfor %}

{% endif %}
    HAVING COUNT(*) > 0
) AS c
GROUP BY c.n, c.m
