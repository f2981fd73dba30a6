-- name: verify/identifiers
-- params: classed (table), released (table), identifiers (aliases in the stage)
-- returns: per identifier, the fewest distinct values in any class, as a reader sees them: classes that publish the same are one
SELECT
{% for name in identifiers %}
    {{ ", " if not loop.first }}MIN(g.n{{ loop.index }}) AS fewest{{ loop.index }}
{% endfor %}
FROM (
    SELECT r._sqlanon_place AS class
{% for name in identifiers %}
        , COUNT(DISTINCT s.{{ name }}) AS n{{ loop.index }}
{% endfor %}
    FROM {{ classed | table }} AS s
    JOIN {{ released | table }} AS r ON r._sqlanon_class = s.class
    GROUP BY r._sqlanon_place
) AS g
