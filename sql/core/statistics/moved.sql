-- name: statistics/moved
-- params: moved (table to make), witness, atoms, cells (tables), columns (list of {levels}), margins
-- returns: witness bigint, cell bigint, change bigint: by how much a witness differs from the true table in each cell, where it does
{% macro set(margin) %}{% set some = [] %}{% for c in columns %}{% set level = margin[loop.index0] %}{% if level < c.levels %}{{ some.append(", a.v%d_%d" | format(loop.index, level)) or "" }}{% endif %}{% endfor %}(w.witness{{ some | join("") }}){% endmacro %}
CREATE {{ moved | scratch }} AS
SELECT g.witness AS witness, c.cell AS cell, g.change AS change
FROM (
    SELECT
        w.witness AS witness
        , CAST(SUM(w.change) AS BIGINT) AS change
{% for c in columns %}
{% set i = loop.index %}
        , CASE{% for level in range(c.levels) %} WHEN a.v{{ i }}_{{ level }} IS NOT NULL THEN {{ level }}{% endfor %} ELSE {{ c.levels }} END AS l{{ i }}
        , COALESCE({% for level in range(c.levels) %}a.v{{ i }}_{{ level }}, {% endfor %}'*') AS k{{ i }}
{% endfor %}
    FROM {{ witness | table }} AS w
    JOIN {{ atoms | table }} AS a ON a.atom = w.atom
    GROUP BY GROUPING SETS ({% for margin in margins %}{{ ", " if not loop.first }}{{ set(margin) }}{% endfor %})
) AS g
JOIN {{ cells | table }} AS c
    ON {% for column in columns %}{{ " AND " if not loop.first }}c.l{{ loop.index }} = g.l{{ loop.index }} AND c.k{{ loop.index }} = g.k{{ loop.index }}{% endfor %}

WHERE g.change <> 0
