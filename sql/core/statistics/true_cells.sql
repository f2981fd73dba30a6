-- name: statistics/true_cells
-- params: cells (private table of a version), columns (list), counted (n or persons)
-- returns: of each cell its levels, then its keys, then its number and its persons
SELECT
{% for c in columns %}
    c.l{{ loop.index }} AS l{{ loop.index }},
{% endfor %}
{% for c in columns %}
    c.k{{ loop.index }} AS k{{ loop.index }},
{% endfor %}
    c.{{ counted }} AS value,
    c.persons AS persons
FROM {{ cells | table }} AS c
