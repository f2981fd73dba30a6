-- name: statistics/different_cells
-- params: atoms (table), columns (list of {levels}), margins
-- returns: different bigint: how many cells have different atoms
{% macro set(margin) %}
{% set some = [] %}
{% for c in columns %}
{% set level = margin[loop.index0] %}
{% if level < c.levels %}{{ some.append("x.v%d_%d" | format(loop.index, level)) or "" }}{% endif %}
{% endfor %}
({{ some | join(", ") }})
{% endmacro %}
SELECT COUNT(*) AS different
FROM (
    SELECT DISTINCT g.first AS first, g.parts AS parts, g.marks AS marks, g.squares AS squares
    FROM (
        SELECT
            MIN(x.atom) AS first
            , COUNT(*) AS parts
            , SUM(x.atom) AS marks
            , SUM(CAST(x.atom AS DECIMAL(38, 0)) * x.atom) AS squares
        FROM {{ atoms | table }} AS x
        GROUP BY GROUPING SETS ({% for margin in margins %}{{ ", " if not loop.first }}{{ set(margin) }}{% endfor %})
    ) AS g
) AS d
