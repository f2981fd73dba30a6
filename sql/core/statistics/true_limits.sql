-- name: statistics/true_limits
-- params: atoms, limits (private tables of a version), columns (list), place (of the sum)
-- returns: of each atom the finest keys, then its number, its sum, and the least and the
--   greatest change that agrees with what each contributor knows
SELECT
{% for c in columns %}
    a.v{{ loop.index }}_0 AS v{{ loop.index }},
{% endfor %}
    a.atom AS atom,
    a.s{{ place }} AS value,
    l.low AS low,
    l.high AS high
FROM {{ atoms | table }} AS a
JOIN {{ limits | table }} AS l ON l.atom = a.atom
