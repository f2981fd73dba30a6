-- name: formats/suppressed_shown
-- params: shown (table to make), boxes (table), columns (list of {code, kind, domain,
--   type, leveled (bool: boxes have a level), names (published names by part)})
-- returns: _sqlanon_class, the published columns of these quasi columns: one row a class. Planning a join takes an
--   engine more than linear time in its tables, so a statement has few columns.
{% macro cast(c, value) %}{{ "CAST(" ~ value ~ " AS " ~ c.type ~ ")" if c.type else value }}{% endmacro %}
CREATE {{ shown | scratch }} AS
SELECT
    b.class AS _sqlanon_class
{% for c in columns %}
    , CASE
        WHEN b.lo_{{ c.code }} = b.hi_{{ c.code }}
{% if c.leveled %}
            AND b.at_{{ c.code }} <= 0
{% endif %}
            THEN {{ cast(c, "l" ~ c.code ~ ".value") }}
    END AS {{ c.names.value | ident }}
{% if c.names.suppressed %}
    , b.lo_{{ c.code }} <> b.hi_{{ c.code }}
{% if c.leveled %}
        OR b.at_{{ c.code }} > 0
{% endif %}
        AS {{ c.names.suppressed | ident }}
{% endif %}
{% endfor %}
FROM {{ boxes | table }} AS b
{% for c in columns %}
JOIN {{ c.domain | table }} AS l{{ c.code }} ON l{{ c.code }}.code = b.lo_{{ c.code }}
{% endfor %}
