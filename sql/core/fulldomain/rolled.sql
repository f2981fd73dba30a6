-- name: fulldomain/rolled
-- params: rolled (table to make), cells (table), columns (list of {code, levels (table),
--   level}), kept (code columns that are not rolled up)
-- returns: a column per code column, n bigint: the cells of a node, each column by the first code of its node
CREATE {{ rolled | scratch }} AS
SELECT
{% for c in columns %}
    m{{ loop.index }}.node AS {{ c.code }},
{% endfor %}
    {% for column in kept %}s.{{ column }} AS {{ column }}, {% endfor %}CAST(SUM(s.n) AS BIGINT) AS n
FROM {{ cells | table }} AS s
{% for c in columns %}
JOIN {{ c.levels | table }} AS m{{ loop.index }} ON m{{ loop.index }}.level = {{ c.level }}
    AND m{{ loop.index }}.code = s.{{ c.code }}
{% endfor %}
GROUP BY
    {% for c in columns %}{{ ", " if not loop.first }}m{{ loop.index }}.node{% endfor %}
{% for column in kept %}
    , s.{{ column }}
{% endfor %}
