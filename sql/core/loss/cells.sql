-- name: loss/cells
-- params: cells (table to make), regions (table), columns (list of {code, cumulated, members (table or none)})
-- returns: class, n, per column size_ bigint (values in the cell), inside_ bigint (rows of
--   the source whose value is in it), level_ double (of regions)
CREATE {{ cells | scratch }} AS
SELECT
    g.class AS class
    , g.n AS n
{% for c in columns %}
    ,
{% if c.members %}
    COALESCE(m{{ c.code }}.size,
{% endif %}
    CAST(g.last_{{ c.code }} - g.first_{{ c.code }} + 1 AS BIGINT){% if c.members %}){% endif %} AS size_{{ c.code }}
    ,
{% if c.members %}
    COALESCE(m{{ c.code }}.inside,
{% endif %}
    h{{ c.code }}.upto - l{{ c.code }}.upto + l{{ c.code }}.n{% if c.members %}){% endif %} AS inside_{{ c.code }}
    , g.level_{{ c.code }} AS level_{{ c.code }}
{% endfor %}
FROM {{ regions | table }} AS g
{% for c in columns %}
LEFT JOIN {{ c.cumulated | table }} AS l{{ c.code }} ON l{{ c.code }}.code = g.first_{{ c.code }}
LEFT JOIN {{ c.cumulated | table }} AS h{{ c.code }} ON h{{ c.code }}.code = g.last_{{ c.code }}
{% if c.members %}
LEFT JOIN (
    SELECT e.class AS class, COUNT(*) AS size, CAST(SUM(d.n) AS BIGINT) AS inside
    FROM {{ c.members | table }} AS e
    JOIN {{ c.cumulated | table }} AS d ON d.code = e.code
    GROUP BY e.class
) AS m{{ c.code }} ON m{{ c.code }}.class = g.class
{% endif %}
{% endfor %}
