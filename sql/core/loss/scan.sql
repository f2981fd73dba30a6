-- name: loss/scan
-- params: boxes (table), aggregates (list of {alias, sql})
-- returns: one row with every aggregate that the metrics asked for: many metrics, one scan
SELECT
{% for a in aggregates %}
    {{ ", " if not loop.first }}{{ a.sql }} AS {{ a.alias }}
{% endfor %}
FROM {{ boxes | table }} AS b
