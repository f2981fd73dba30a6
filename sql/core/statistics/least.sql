-- name: statistics/least
-- params: least (table to make), atoms, cells (tables), columns (list of {levels}), tables
--   (list of {columns (places, from 1), margins})
-- returns: cell bigint, least bigint: the most finest cells that a table has within the cell; none of them is zero
{% from "core/statistics/cells.jinja" import margin_sets, same_cell %}
CREATE {{ least | scratch }} AS
SELECT c.cell AS cell, MAX(g.parts) AS least
FROM (
{% for t in tables %}
{{ "UNION ALL" if not loop.first }}
    SELECT
        COUNT(*) AS parts
{% for c in columns %}
{% set i = loop.index %}
{% if i in t.columns %}
        , CASE
{% for level in range(c.levels) %}
            WHEN d.v{{ i }}_{{ level }} IS NOT NULL THEN {{ level }}
{% endfor %}
            ELSE {{ c.levels }}
        END AS l{{ i }}
        , COALESCE({% for level in range(c.levels) %}d.v{{ i }}_{{ level }}, {% endfor %}'*') AS k{{ i }}
{% else %}
        , {{ c.levels }} AS l{{ i }}
        , '*' AS k{{ i }}
{% endif %}
{% endfor %}
    FROM (
        SELECT DISTINCT
{% for i in t.columns %}
{% set outer = loop.first %}
{% for level in range(columns[i - 1].levels) %}
            {{ ", " if not (outer and loop.first) }}a.v{{ i }}_{{ level }} AS v{{ i }}_{{ level }}
{% endfor %}
{% endfor %}
        FROM {{ atoms | table }} AS a
    ) AS d
    GROUP BY {{ margin_sets(columns, t.margins, "d") }}
{% endfor %}
) AS g
JOIN {{ cells | table }} AS c
    ON
        {{ same_cell(columns, "c", "g") }}
GROUP BY c.cell
