-- name: verify/compared
-- params: compared (table to make), classed, numbers (tables), omitted (table of rows that
--   are left out, or none), columns (aliases in the stage)
-- returns: number bigint (of what is published for a row; NULL: all rows of the source),
--   one column per alias, n bigint: rows of these values
CREATE {{ compared | scratch }} AS
SELECT
    CAST(m.number AS BIGINT) AS number
{% for name in columns %}
    , s.{{ name }} AS {{ name }}
{% endfor %}
    , CAST(COUNT(*) AS BIGINT) AS n
FROM {{ classed | table }} AS s
JOIN {{ numbers | table }} AS m ON m.class = s.class
GROUP BY m.number{% for name in columns %}, s.{{ name }}{% endfor %}

UNION ALL
SELECT
    CAST(NULL AS BIGINT) AS number
{% for name in columns %}
    , r.{{ name }} AS {{ name }}
{% endfor %}
    , CAST(COUNT(*) AS BIGINT) AS n
FROM (
    SELECT {% for name in columns %}{{ ", " if not loop.first }}a.{{ name }} AS {{ name }}{% endfor %}
    FROM {{ classed | table }} AS a
{% if omitted %}
    UNION ALL
    SELECT {% for name in columns %}{{ ", " if not loop.first }}b.{{ name }} AS {{ name }}{% endfor %}
    FROM {{ omitted | table }} AS b
{% endif %}
) AS r
GROUP BY {% for name in columns %}{{ ", " if not loop.first }}r.{{ name }}{% endfor %}

