-- name: attack/grouped
-- params: grouped (table to make), target (table: a published release), names (its columns
--   that come from quasi columns), values (its sensitive columns, and what numbers its groups)
-- returns: names, values, _sqlanon_n bigint: each combination once, and how many rows have it
CREATE {{ grouped | scratch }} AS
SELECT
{% for name in names + values %}
    t.{{ name | ident }} AS {{ name | ident }},
{% endfor %}
    COUNT(*) AS _sqlanon_n
FROM {{ target | table }} AS t
{% for name in names + values %}
{{ "GROUP BY " if loop.first else "    , " }}t.{{ name | ident }}
{% endfor %}
