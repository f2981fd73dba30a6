-- name: audit/identifiers
-- params: target (table), classes, identifier (column names)
-- returns: fewest bigint: the fewest distinct identifiers in any class
SELECT COALESCE(MIN(g.n), 0) AS fewest
FROM (
    SELECT COUNT(DISTINCT t.{{ identifier | ident }}) AS n
    FROM {{ target | table }} AS t
{% if classes %}
    GROUP BY {% for name in classes %}{{ ", " if not loop.first }}t.{{ name | ident }}{% endfor %}

{% endif %}
) AS g
