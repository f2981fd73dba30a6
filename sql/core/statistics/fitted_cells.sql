-- name: statistics/fitted_cells
-- params: fitted (table to make), atoms, cells (tables), nearest (table of atom, value),
--   columns (list of {levels}), margins
-- returns: cell bigint, value double: the sum of the numbers of its atoms
{% macro set(margin) %}
{% set some = [] %}
{% for c in columns %}
{% set level = margin[loop.index0] %}
{% if level < c.levels %}{{ some.append("x.v%d_%d" | format(loop.index, level)) or "" }}{% endif %}
{% endfor %}
({{ some | join(", ") }})
{% endmacro %}
CREATE {{ fitted | scratch }} AS
SELECT c.cell AS cell, g.value AS value
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
            f.value AS value
{% for c in columns %}
{% set i = loop.index %}
{% for level in range(c.levels) %}
            , a.v{{ i }}_{{ level }} AS v{{ i }}_{{ level }}
{% endfor %}
{% endfor %}
        FROM {{ atoms | table }} AS a
        JOIN {{ nearest | table }} AS f ON f.atom = a.atom
    ) AS x
    GROUP BY GROUPING SETS ({% for margin in margins %}{{ ", " if not loop.first }}{{ set(margin) }}{% endfor %})
) AS g
JOIN {{ cells | table }} AS c ON
{% for column in columns %}
    {{ " AND " if not loop.first }}c.l{{ loop.index }} = g.l{{ loop.index }}
    AND c.k{{ loop.index }} = g.k{{ loop.index }}
{% endfor %}