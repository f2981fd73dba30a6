-- name: sent/rows
-- params: target (table), columns (list of {name, form (plain, float, day, zoned, bytes or text), array (bool)})
-- returns: every column as text, of arrays as a list of texts: texts that every engine reads as the same values
{% macro day(of) %}CASE WHEN YEAR({{ of }}) < 1 THEN CONCAT(FORMAT_STRING('%04d', 1 - YEAR({{ of }})), REGEXP_REPLACE(CAST({{ of }} AS STRING), '^[+-]?[0-9]+', '')) WHEN CAST({{ of }} AS STRING) LIKE '+%' THEN SUBSTR(CAST({{ of }} AS STRING), 2) ELSE CAST({{ of }} AS STRING) END{% endmacro %}
{% macro era(of) %}CASE WHEN YEAR({{ of }}) < 1 THEN ' BC' ELSE '' END{% endmacro %}
{% macro text(form, of) %}
{% if form == "float" %}CAST(CAST({{ of }} AS DOUBLE) AS STRING)
{% elif form == "day" %}CONCAT({{ day(of) }}, {{ era(of) }})
{% elif form == "zoned" %}CONCAT({{ day(of) }}, '+00', {{ era(of) }})
{% elif form == "bytes" %}CONCAT(CHR(92), 'x', LOWER(HEX({{ of }})))
{% else %}CAST({{ of }} AS STRING)
{% endif %}
{% endmacro %}
SELECT
{% for c in columns %}
    {{ ", " if not loop.first }}{% if c.array %}TRANSFORM(t.{{ c.name | ident }}, e -> {{ text(c.form, "e") }}){% else %}{{ text(c.form, "t." ~ (c.name | ident)) }}{% endif %} AS c{{ loop.index0 }}
{% endfor %}
FROM {{ target | table }} AS t
