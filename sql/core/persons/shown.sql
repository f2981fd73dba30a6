-- name: persons/shown
-- params: shown (table to make), classed, released (tables), published (list of {source (r or s), column, name, kind})
-- returns: the rows that will be published, of a table with tokens, for the other tables
--   that are published together with it
CREATE {{ shown | scratch }} AS
SELECT
{% for c in published %}
    {{ ", " if not loop.first }}{{ c.source }}.{{ c.column | ident }} AS {{ c.name | ident }}
{% endfor %}
FROM {{ classed | table }} AS s
JOIN {{ released | table }} AS r ON r._sqlanon_class = s.class
