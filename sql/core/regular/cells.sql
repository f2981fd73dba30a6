-- name: regular/cells
-- params: cells (table to make), target (table: a published release), columns (list of
--   {code, names: the published columns of a quasi column})
-- returns: those columns, and per quasi column _sqlanon_ and its code's name, integer: the
--   number of what it publishes, 0, 1, ..
CREATE {{ cells | scratch }} AS
SELECT
{% for c in columns %}
    {{ ", " if not loop.first }}CAST(DENSE_RANK() OVER (
        ORDER BY {% for name in c.names %}{{ ", " if not loop.first }}t.{{ name | ident }} NULLS FIRST{% endfor %}
    ) - 1 AS INTEGER) AS _sqlanon_{{ c.code }}
{% for name in c.names %}
    , t.{{ name | ident }} AS {{ name | ident }}
{% endfor %}
{% endfor %}
FROM {{ target | table }} AS t
