-- name: verify/attained_ends
-- params: classed (table of class and the staged originals), released (table), columns (list of {alias (the original), names (published
--   columns), as_text (bool: originals are compared as text), ranks (table of value, rank; or none), boolean (bool: values are)})
-- returns: missed bigint for each of the columns: classes with a published end that no row of them has; classes that publish no ends are
--   passed over. Every value is known to lie between the ends, so that the least and the greatest are all that is asked.
{% macro number(x, c) %}{{ "CASE WHEN " ~ x ~ " THEN 1 WHEN NOT " ~ x ~ " THEN 0 END" if c.boolean else x }}{% endmacro %}
{% macro raw(c) %}{{ "CAST(s." ~ c.alias ~ " AS VARCHAR)" if c.as_text else "s." ~ c.alias }}{% endmacro %}
SELECT
{% for c in columns %}
{% set i = loop.index %}
{% set low = "l" ~ i ~ ".rank" if c.ranks else number("r." ~ (c.names.lo | ident), c) %}
{% set high = "h" ~ i ~ ".rank" if c.ranks else number("r." ~ (c.names.hi | ident), c) %}
    {{ ", " if not loop.first }}CAST(COUNT(CASE WHEN r.{{ c.names.lo | ident }} IS NOT NULL AND NOT COALESCE({{ low }} = g.least{{ i }} AND {{ high }} = g.greatest{{ i }}, FALSE) THEN 1 END) AS BIGINT) AS missed{{ i }}
{% endfor %}
FROM (
    SELECT s.class AS class
{% for c in columns %}
{% set i = loop.index %}
{% set value = "k" ~ i ~ ".rank" if c.ranks else number(raw(c), c) %}
        , MIN({{ value }}) AS least{{ i }}, MAX({{ value }}) AS greatest{{ i }}
{% endfor %}
    FROM {{ classed | table }} AS s
{% for c in columns %}
{% if c.ranks %}
    LEFT JOIN {{ c.ranks | table }} AS k{{ loop.index }} ON k{{ loop.index }}.value = {{ raw(c) }}
{% endif %}
{% endfor %}
    GROUP BY s.class
) AS g
JOIN {{ released | table }} AS r ON r._sqlanon_class = g.class
{% for c in columns %}
{% set i = loop.index %}
{% if c.ranks %}
LEFT JOIN {{ c.ranks | table }} AS l{{ i }} ON l{{ i }}.value = r.{{ c.names.lo | ident }}
LEFT JOIN {{ c.ranks | table }} AS h{{ i }} ON h{{ i }}.value = r.{{ c.names.hi | ident }}
{% endif %}
{% endfor %}
