-- name: statistics/true_cells
-- params: cells (private table of a version), columns (list), counted (n or persons),
--   batches (bool: whether the table has batches)
-- returns: of each cell its levels, then its keys, whether it is hidden (with batches;
--   else NULL), its number and its persons
SELECT
{% for c in columns %}
    c.l{{ loop.index }} AS l{{ loop.index }},
{% endfor %}
{% for c in columns %}
    c.k{{ loop.index }} AS k{{ loop.index }},
{% endfor %}
    {{ "c.hidden" if batches else "CAST(NULL AS INTEGER)" }} AS hidden,
    c.{{ counted }} AS value,
    c.persons AS persons
FROM {{ cells | table }} AS c
