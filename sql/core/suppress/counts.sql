-- name: suppress/counts
-- params: cells (table), keys (columns), sensitive (SA code columns), kept (bool)
-- returns: the cells: keys, sensitive codes, n, and with kept the rows that phase one keeps
SELECT
{% for key in keys %}
    c.{{ key }} AS {{ key }},
{% endfor %}
    {% for s in sensitive %}c.{{ s }} AS {{ s }}, {% endfor %}c.n AS n
{% if kept %}
    , c.kept AS kept
{% endif %}
FROM {{ cells | table }} AS c
