-- name: statistics/pattern_moved
-- params: moved (table to make), witness, patterns, atoms, cells (tables), columns (list of {levels}), margins
-- returns: witness bigint, cell bigint, persons bigint, n bigint: by how many persons and rows a
--   witness differs from the true source in each cell, where it does; a person counts once in a cell
{% macro set(margin) %}
{% set some = [] %}
{% for c in columns %}
{% set level = margin[loop.index0] %}
{% if level < c.levels %}{{ some.append(", a.v%d_%d" | format(loop.index, level)) or "" }}{% endif %}
{% endfor %}
(w.witness, w.pattern{{ some | join("") }})
{% endmacro %}
CREATE {{ moved | scratch }} AS
SELECT h.witness AS witness, c.cell AS cell, h.persons AS persons, h.n AS n
FROM (
    SELECT
        g.witness AS witness
        , CAST(SUM(g.change) AS BIGINT) AS persons
        , CAST(SUM(g.change * g.times) AS BIGINT) AS n
{% for c in columns %}
        , g.l{{ loop.index }} AS l{{ loop.index }}
        , g.k{{ loop.index }} AS k{{ loop.index }}
{% endfor %}
    FROM (
        SELECT
            w.witness AS witness
            , w.pattern AS pattern
            , MAX(w.change) AS change
            , CAST(SUM(q.times) AS BIGINT) AS times
{% for c in columns %}
{% set i = loop.index %}
            , CASE
{% for level in range(c.levels) %}
                WHEN a.v{{ i }}_{{ level }} IS NOT NULL THEN {{ level }}
{% endfor %}
                ELSE {{ c.levels }}
            END AS l{{ i }}
            , COALESCE({% for level in range(c.levels) %}a.v{{ i }}_{{ level }}, {% endfor %}'*') AS k{{ i }}
{% endfor %}
        FROM {{ witness | table }} AS w
        JOIN {{ patterns | table }} AS q ON q.pattern = w.pattern
        JOIN {{ atoms | table }} AS a ON a.atom = q.atom
        GROUP BY GROUPING SETS ({% for margin in margins %}{{ ", " if not loop.first }}{{ set(margin) }}{% endfor %})
    ) AS g
    GROUP BY g.witness{% for c in columns %}, g.l{{ loop.index }}, g.k{{ loop.index }}{% endfor %}

) AS h
JOIN {{ cells | table }} AS c
    ON
{% for column in columns %}
        {{ " AND " if not loop.first }}c.l{{ loop.index }} = h.l{{ loop.index }}
        AND c.k{{ loop.index }} = h.k{{ loop.index }}
{% endfor %}
WHERE h.persons <> 0 OR h.n <> 0
