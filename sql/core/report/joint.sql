-- name: report/joint
-- params: cells, released (tables), pairs (list of pairs of {code, part, bins, reach}: the column of codes,
--   and that of parts in the release or none: it holds codes; the tables bins and, for parts, reach)
-- returns: pair integer (place in the list, from 1), x, y integer (coarse bins of the two
--   columns), source, release double: rows that are there, and that are expected
{% for columns in pairs %}
{{ "UNION ALL" if not loop.first }}
SELECT
    {{ loop.index }} AS pair
    , u.x AS x
    , u.y AS y
    , CAST(SUM(u.n) AS DOUBLE) AS source
    , CAST(SUM(u.m) AS DOUBLE) AS release
FROM (
    SELECT b1.coarse AS x, b2.coarse AS y, CAST(t.n AS DOUBLE) AS n, CAST(0 AS DOUBLE) AS m
    FROM {{ cells | table }} AS t
    JOIN {{ columns[0].bins | table }} AS b1 ON b1.code = t.{{ columns[0].code }}
    JOIN {{ columns[1].bins | table }} AS b2 ON b2.code = t.{{ columns[1].code }}
    UNION ALL
    SELECT
{% for c in columns %}
        w{{ loop.index }}.{{ "bin" if c.part else "coarse" }} AS {{ "x" if loop.first else "y" }},
{% endfor %}
        CAST(0 AS DOUBLE) AS n
        , p.n{% for c in columns %}{% if c.part %} * w{{ loop.index }}.share{% endif %}{% endfor %} AS m
    FROM (
        SELECT
{% for c in columns %}
            r.{{ c.part or c.code }} AS k{{ loop.index }},
{% endfor %}
            CAST(SUM(r.n) AS DOUBLE) AS n
        FROM {{ released | table }} AS r
        GROUP BY {% for c in columns %}{{ ", " if not loop.first }}r.{{ c.part or c.code }}{% endfor %}

    ) AS p
{% for c in columns %}
{% if c.part %}
    JOIN {{ c.reach | table }} AS w{{ loop.index }} ON w{{ loop.index }}.part = p.k{{ loop.index }}
{% else %}
    JOIN {{ c.bins | table }} AS w{{ loop.index }} ON w{{ loop.index }}.code = p.k{{ loop.index }}
{% endif %}
{% endfor %}
) AS u
GROUP BY u.x, u.y
{% endfor %}
ORDER BY pair, x, y
