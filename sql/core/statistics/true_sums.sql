-- name: statistics/true_sums
-- params: cells, needs (private tables of a version), columns (list), place (of the sum)
-- returns: of each cell its levels, then its keys, then its sum, and by how much it must
--   be able to be larger and smaller, 0: not demanded
SELECT
{% for c in columns %}
    c.l{{ loop.index }} AS l{{ loop.index }},
{% endfor %}
{% for c in columns %}
    c.k{{ loop.index }} AS k{{ loop.index }},
{% endfor %}
    c.s{{ place }} AS value,
    COALESCE(n.up, 0) AS up,
    COALESCE(n.down, 0) AS down
FROM {{ cells | table }} AS c
LEFT JOIN {{ needs | table }} AS n ON n.cell = c.cell
