-- name: formats/points_shown
-- params: shown (table to make), boxes (table), columns (list of {code, kind, domain,
--   middle, type, names (published names by part)})
-- returns: _sqlanon_class, the published columns of these quasi columns: one row a class. Planning a join takes an
--   engine more than linear time in its tables, so a statement has few columns.
{% macro cast(c, value) %}{{ "CAST(" ~ value ~ " AS " ~ c.type ~ ")" if c.type else value }}{% endmacro %}
CREATE {{ shown | scratch }} AS
SELECT
    b.class AS _sqlanon_class
{% for c in columns %}
    , {{ cast(c, "l" ~ c.code ~ ".value") }} AS {{ c.names.value | ident }}
{% endfor %}
FROM {{ boxes | table }} AS b
{% for c in columns %}
JOIN {{ c.middle | table }} AS p{{ c.code }} ON p{{ c.code }}.class = b.class
JOIN {{ c.domain | table }} AS l{{ c.code }} ON l{{ c.code }}.code = p{{ c.code }}.code
{% endfor %}
