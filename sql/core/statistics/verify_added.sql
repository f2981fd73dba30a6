-- name: statistics/verify_added
-- params: published (as statistics/published makes it), atoms (table), columns (list of {levels}), margins
-- returns: failing bigint: published cells with a number that is not the sum of the finest published ones in it
{% macro set(margin) %}
{% set some = [] %}
{% for c in columns %}
{% set level = margin[loop.index0] %}
{% if level < c.levels %}{{ some.append("x.v%d_%d" | format(loop.index, level)) or "" }}{% endif %}
{% endfor %}
({{ some | join(", ") }})
{% endmacro %}
SELECT COUNT(*) AS failing
FROM (
    SELECT
        SUM(x.value) AS value
{% for c in columns %}
{% set i = loop.index %}
        , CASE
{% for level in range(c.levels) %}
            WHEN x.v{{ i }}_{{ level }} IS NOT NULL THEN {{ level }}
{% endfor %}
            ELSE {{ c.levels }}
        END AS l{{ i }}
        , COALESCE({% for level in range(c.levels) %}x.v{{ i }}_{{ level }}, {% endfor %}'*') AS k{{ i }}
{% endfor %}
    FROM (
        SELECT
            f.m1 AS value
{% for c in columns %}
{% set i = loop.index %}
{% for level in range(c.levels) %}
            , a.v{{ i }}_{{ level }} AS v{{ i }}_{{ level }}
{% endfor %}
{% endfor %}
        FROM {{ atoms | table }} AS a
        JOIN {{ published | table }} AS f ON
{% for column in columns %}
            {{ " AND " if not loop.first }}f.l{{ loop.index }} = 0
            AND f.k{{ loop.index }} = a.v{{ loop.index }}_0
{% endfor %}
    ) AS x
    GROUP BY GROUPING SETS ({% for margin in margins %}{{ ", " if not loop.first }}{{ set(margin) }}{% endfor %})
) AS g
FULL JOIN {{ published | table }} AS p ON
{% for column in columns %}
    {{ " AND " if not loop.first }}p.l{{ loop.index }} = g.l{{ loop.index }}
    AND p.k{{ loop.index }} = g.k{{ loop.index }}
{% endfor %}
    AND p.m1 = g.value
WHERE p.m1 IS NULL OR g.value IS NULL
