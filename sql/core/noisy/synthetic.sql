-- name: noisy/synthetic
-- params: physical (table to make), drawn (table of place and c1..), columns (list of
--   {name, code (its column in drawn), shown (table of code and value)})
-- returns: the published synthetic rows, in the order of their places
CREATE TABLE {{ physical | table }} AS
SELECT
{% for c in columns %}
    {{ ", " if not loop.first }}{{ "l" ~ loop.index }}.value AS {{ c.name | ident }}
{% endfor %}
FROM {{ drawn | table }} AS d
{% for c in columns %}
JOIN {{ c.shown | table }} AS l{{ loop.index }} ON l{{ loop.index }}.code = d.{{ c.code }}
{% endfor %}
ORDER BY d.place
