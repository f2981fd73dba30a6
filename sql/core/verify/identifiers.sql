-- name: verify/identifiers
-- params: stage, assign (tables), identifiers (aliases in the stage)
-- returns: per identifier, the fewest distinct values in any class
SELECT
{% for name in identifiers %}
    {{ ", " if not loop.first }}MIN(g.n{{ loop.index }}) AS fewest{{ loop.index }}
{% endfor %}
FROM (
    SELECT a.class AS class
{% for name in identifiers %}
        , COUNT(DISTINCT s.{{ name }}) AS n{{ loop.index }}
{% endfor %}
    FROM {{ stage | table }} AS s
    JOIN {{ assign | table }} AS a ON a.rid = s.rid
    GROUP BY a.class
) AS g
