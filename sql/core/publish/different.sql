-- name: publish/different
-- params: released (table), names (published columns)
-- returns: for every column the number of different values, bigint
SELECT
{% for name in names %}
    {{ ", " if not loop.first }}COUNT(DISTINCT r.{{ name | ident }}) AS n{{ loop.index }}
{% endfor %}
FROM {{ released | table }} AS r
