-- name: table/beside
-- params: wide (table to make), parts (list of {table, columns}), key (a column that they all have, unique in each)
-- returns: the key, and the columns of all parts
CREATE {{ wide | scratch }} AS
SELECT p1.{{ key }} AS {{ key }}
{% for part in parts %}
{% set at = loop.index %}
{% for column in part.columns %}
    , p{{ at }}.{{ column | ident }} AS {{ column | ident }}
{% endfor %}
{% endfor %}
FROM {{ parts[0].table | table }} AS p1
{% for part in parts[1:] %}
JOIN {{ part.table | table }} AS p{{ loop.index + 1 }} ON p{{ loop.index + 1 }}.{{ key }} = p1.{{ key }}
{% endfor %}
