-- name: verify/population_each
-- params: each (table to make), source (table), number (its column), columns (list of {column, name})
-- returns: _sqlanon_number bigint and the columns as names: every number once
CREATE {{ each | scratch }} AS
SELECT DISTINCT
    t.{{ number }} AS _sqlanon_number
{% for c in columns %}
    , t.{{ c.column | ident }} AS {{ c.name | ident }}
{% endfor %}
FROM {{ source | table }} AS t
