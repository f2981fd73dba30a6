-- name: attack/boxes
-- params: cells (table), columns (of numbers, as they are called after _sqlanon_)
-- returns: the columns integer, n bigint: each tuple once, and how many rows are published so
SELECT
{% for c in columns %}
    CAST(t._sqlanon_{{ c }} AS INTEGER) AS {{ c }},
{% endfor %}
    CAST(SUM(t._sqlanon_n) AS BIGINT) AS n
FROM {{ cells | table }} AS t
{% for c in columns %}
{{ "GROUP BY " if loop.first else "    , " }}t._sqlanon_{{ c }}
{% endfor %}
