-- name: statistics/past_places
-- params: cells (table, as statistics/cells makes it), whole (atoms of these), atoms (as
--   statistics/past_atoms makes it), columns (list of {levels})
-- returns: of each cell an atom of some version, its persons, and its levels; in the order of the cells
SELECT
    p.first AS first
    , c.persons AS persons
{% for c in columns %}
    , c.l{{ loop.index }} AS l{{ loop.index }}
{% endfor %}
FROM {{ cells | table }} AS c
JOIN (
    SELECT MIN(a.atom) AS first, w.atom AS atom
    FROM {{ whole | table }} AS w
    JOIN {{ atoms | table }} AS a ON
{% for c in columns %}
        {{ " AND " if not loop.first }}a.v{{ loop.index }}_0 = w.v{{ loop.index }}_0
{% endfor %}
    GROUP BY w.atom
) AS p ON p.atom = c.first
ORDER BY c.cell
