-- name: statistics/atom_codes
-- params: atoms (table), columns (list of {levels}), counted (n or persons)
-- returns: value bigint, owner bigint, and of each column and level a number of the node,
--   bigint; in the order of the atoms
SELECT
    a.{{ counted }} AS value
    , a.owner AS owner
{% for c in columns %}
{% set i = loop.index %}
{% for level in range(c.levels) %}
    , DENSE_RANK() OVER (ORDER BY a.v{{ i }}_{{ level }}) AS c{{ i }}_{{ level }}
{% endfor %}
{% endfor %}
FROM {{ atoms | table }} AS a
ORDER BY a.atom
