-- name: statistics/insider_atoms
-- params: insiders (table, as statistics/insiders makes it), atoms (private table of a
--   version), columns (list), counted (n or persons)
-- returns: of each atom of an insider the insider's number, the finest keys of the atom, and its number
SELECT
    i.owner AS owner,
{% for c in columns %}
    a.v{{ loop.index }}_0 AS v{{ loop.index }},
{% endfor %}
    CAST(SUM(a.{{ counted }}) AS BIGINT) AS value
FROM {{ insiders | table }} AS i
JOIN {{ atoms | table }} AS a ON a.atom = i.atom
GROUP BY i.owner{% for c in columns %}, a.v{{ loop.index }}_0{% endfor %}

ORDER BY i.owner{% for c in columns %}, a.v{{ loop.index }}_0{% endfor %}

