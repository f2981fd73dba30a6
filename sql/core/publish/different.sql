-- name: publish/different
-- params: released (table), listed, integers (published columns, one at least)
-- returns: for every column of listed the number of different values, bigint; then for every one of integers the
--   least and the greatest value
SELECT
{% for name in listed %}
    {{ ", " if not loop.first }}COUNT(DISTINCT r.{{ name | ident }}) AS n{{ loop.index }}
{% endfor %}
{% for name in integers %}
    {{ ", " if listed or not loop.first }}MIN(r.{{ name | ident }}) AS low{{ loop.index }}
    , MAX(r.{{ name | ident }}) AS high{{ loop.index }}
{% endfor %}
FROM {{ released | table }} AS r
