-- name: statistics/cell_levels
-- params: cells (table), columns (list)
-- returns: first bigint (an atom), persons bigint, and the level of each column, integer; in the order of the cells
SELECT
    c.first AS first
    , c.persons AS persons
{% for column in columns %}
    , c.l{{ loop.index }} AS l{{ loop.index }}
{% endfor %}
FROM {{ cells | table }} AS c
ORDER BY c.cell
