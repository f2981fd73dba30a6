-- name: verify/identifiers
-- params: classed (table), identifiers (aliases in the stage)
-- returns: per identifier, the fewest distinct values in any class
SELECT
{% for name in identifiers %}
    {{ ", " if not loop.first }}MIN(g.n{{ loop.index }}) AS fewest{{ loop.index }}
{% endfor %}
FROM (
    SELECT s.class AS class
{% for name in identifiers %}
        , COUNT(DISTINCT s.{{ name }}) AS n{{ loop.index }}
{% endfor %}
    FROM {{ classed | table }} AS s
    GROUP BY s.class
) AS g
