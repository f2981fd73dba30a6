-- name: fulldomain/classes
-- params: classes (table to make), rolled (table), columns (list of {code, levels (table),
--   level}), below (tables of the columns' codes: classes that do not meet a requirement)
-- returns: a column per code column, n bigint, extra bigint (what suppressing the class costs more, a row), place
--   bigint: 0 where a requirement is not met, otherwise the place of the class by ascending rows, then codes
CREATE {{ classes | scratch }} AS
SELECT {% for c in columns %}f.{{ c.code }} AS {{ c.code }}, {% endfor %}f.n AS n, f.extra AS extra
    , CASE
        WHEN f.failing = 1 THEN 0
        ELSE ROW_NUMBER() OVER (PARTITION BY f.failing ORDER BY f.n{% for c in columns %}, f.{{ c.code }}{% endfor %})
    END AS place
FROM (
    SELECT {% for c in columns %}g.{{ c.code }} AS {{ c.code }}, {% endfor %}g.n AS n
        , {% for c in columns %}{{ " + " if not loop.first }}m{{ loop.index }}.extra{% endfor %} AS extra
        , CASE
            WHEN FALSE{% for table in below %} OR b{{ loop.index }}.{{ columns[0].code }} IS NOT NULL{% endfor %} THEN 1
            ELSE 0
        END AS failing
    FROM (
        SELECT {% for c in columns %}r.{{ c.code }} AS {{ c.code }}, {% endfor %}CAST(SUM(r.n) AS BIGINT) AS n
        FROM {{ rolled | table }} AS r
        GROUP BY {% for c in columns %}{{ ", " if not loop.first }}r.{{ c.code }}{% endfor %}

    ) AS g
{% for c in columns %}
    JOIN {{ c.levels | table }} AS m{{ loop.index }} ON m{{ loop.index }}.level = {{ c.level }}
        AND m{{ loop.index }}.code = g.{{ c.code }}
{% endfor %}
{% for table in below %}
    LEFT JOIN {{ table | table }} AS b{{ loop.index }} ON {% set outer = loop.index %}

{% for c in columns %}
        {{ " AND " if not loop.first }}b{{ outer }}.{{ c.code }} = g.{{ c.code }}
{% endfor %}
{% endfor %}
) AS f
