-- name: statistics/cells
-- params: cells (table to make), rows (table, as statistics/rows makes it), columns (list of {levels}),
--   margins (lists of the level of each column, its number of levels for the total), sums (list)
-- returns: cell bigint (a number from 1), level and key of each column, l<column> integer and k<column>
--   text ('*' for the total), n bigint (rows), persons bigint, s<sum> bigint, first bigint (an atom)
{% macro set(margin) %}
{% set some = [] %}
{% for c in columns %}
{% set level = margin[loop.index0] %}
{% if level < c.levels %}{{ some.append("r.v%d_%d" | format(loop.index, level)) or "" }}{% endif %}
{% endfor %}
({{ some | join(", ") }})
{% endmacro %}
CREATE {{ cells | scratch }} AS
SELECT
    ROW_NUMBER() OVER (
        ORDER BY {% for c in columns %}{{ ", " if not loop.first }}g.l{{ loop.index }}, g.k{{ loop.index }}{% endfor %}
    ) AS cell
{% for c in columns %}
    , g.l{{ loop.index }} AS l{{ loop.index }}
    , g.k{{ loop.index }} AS k{{ loop.index }}
{% endfor %}
    , g.n AS n
    , g.persons AS persons
{% for s in sums %}
    , g.s{{ loop.index }} AS s{{ loop.index }}
{% endfor %}
    , g.first AS first
FROM (
    SELECT
        COUNT(*) AS n
        , COUNT(DISTINCT r.person) AS persons
{% for s in sums %}
        , CAST(SUM(r.s{{ loop.index }}) AS BIGINT) AS s{{ loop.index }}
{% endfor %}
        , MIN(r.atom) AS first
{% for c in columns %}
{% set i = loop.index %}
        , CASE
{% for level in range(c.levels) %}
            WHEN r.v{{ i }}_{{ level }} IS NOT NULL THEN {{ level }}
{% endfor %}
            ELSE {{ c.levels }}
        END AS l{{ i }}
        , COALESCE({% for level in range(c.levels) %}r.v{{ i }}_{{ level }}, {% endfor %}'*') AS k{{ i }}
{% endfor %}
    FROM {{ rows | table }} AS r
    GROUP BY GROUPING SETS ({% for margin in margins %}{{ ", " if not loop.first }}{{ set(margin) }}{% endfor %})
) AS g
