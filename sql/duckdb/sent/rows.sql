-- name: sent/rows
-- params: target (table), columns (list of {name, form (plain, float, day, zoned or bytes), array (bool)})
-- returns: every column as text, of arrays as a list of texts: texts that every engine reads as the same values
{% macro text(form, of) %}
{% if form == "float" %}CAST(CAST({{ of }} AS DOUBLE) AS VARCHAR)
{% elif form == "day" %}CASE WHEN CAST({{ of }} AS VARCHAR) LIKE '% (BC)%' THEN REPLACE(CAST({{ of }} AS VARCHAR), ' (BC)', '') || ' BC' ELSE CAST({{ of }} AS VARCHAR) END
{% elif form == "zoned" %}CASE WHEN NOT ISFINITE({{ of }}) THEN CAST({{ of }} AS VARCHAR) WHEN CAST(MAKE_TIMESTAMP(EPOCH_US({{ of }})) AS VARCHAR) LIKE '% (BC)%' THEN REPLACE(CAST(MAKE_TIMESTAMP(EPOCH_US({{ of }})) AS VARCHAR), ' (BC)', '') || '+00 BC' ELSE CAST(MAKE_TIMESTAMP(EPOCH_US({{ of }})) AS VARCHAR) || '+00' END
{% elif form == "bytes" %}'\x' || LOWER(HEX({{ of }}))
{% else %}CAST({{ of }} AS VARCHAR)
{% endif %}
{% endmacro %}
SELECT
{% for c in columns %}
    {{ ", " if not loop.first }}{% if c.array %}LIST_TRANSFORM(t.{{ c.name | ident }}, LAMBDA e: {{ text(c.form, "e") }}){% else %}{{ text(c.form, "t." ~ (c.name | ident)) }}{% endif %} AS c{{ loop.index0 }}
{% endfor %}
FROM {{ target | table }} AS t
