-- name: history/sizes
-- params: tables (list of tables)
-- returns: n1 bigint, n2 bigint, ..: the rows of every table
SELECT
{% for one in tables %}
    {{ ", " if not loop.first }}(SELECT COUNT(*) FROM {{ one | table }} AS t) AS n{{ loop.index }}
{% endfor %}
