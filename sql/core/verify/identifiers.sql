-- name: verify/identifiers
-- params: classed (table), groups ({table, key, group}), identifiers (aliases in the
--   stage), also (aliases of columns that divide classes; may be empty)
-- returns: per identifier, the fewest distinct values in any class, as a reader sees them:
--   classes that publish the same are one
SELECT
{% for name in identifiers %}
    {{ ", " if not loop.first }}MIN(g.n{{ loop.index }}) AS fewest{{ loop.index }}
{% endfor %}
FROM (
    SELECT r.{{ groups.group }} AS class
{% for name in identifiers %}
        , COUNT(DISTINCT s.{{ name }}) AS n{{ loop.index }}
{% endfor %}
    FROM {{ classed | table }} AS s
    JOIN {{ groups.table | table }} AS r ON r.{{ groups.key }} = s.class
    GROUP BY r.{{ groups.group }}{% for name in also %}, s.{{ name }}{% endfor %}

) AS g
