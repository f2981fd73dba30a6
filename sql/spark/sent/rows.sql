-- name: sent/rows
-- params: target (table), columns (list of {name, form (plain, fraction, float, day,
--   zoned, bytes or text), array (bool), width (characters of padded text, or 0)})
-- returns: every column as text, of arrays as a list of texts: texts that every engine reads as the same values
{% from "spark/sent/texts.jinja" import text %}
{% macro written(form, of) %}{{ text(form, of, "CAST(CAST(" ~ of ~ " AS DOUBLE) AS STRING)") }}{% endmacro %}
SELECT
{% for c in columns %}
    {{ ", " if not loop.first }}
{% if c.array %}
        TRANSFORM(t.{{ c.name | ident }}, e -> {{ written(c.form, "e") }})
{% else %}
        {{ written(c.form, "t." ~ (c.name | ident)) }}
{% endif %}
        AS c{{ loop.index0 }}
{% endfor %}
FROM {{ target | table }} AS t
