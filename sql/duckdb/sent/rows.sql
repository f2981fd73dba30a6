-- name: sent/rows
-- params: target (table), columns (list of {name, form (plain, fraction, float, day,
--   zoned, bytes or text), array (bool), width (characters of padded text, or 0)})
-- returns: line text: a row as a line of PostgreSQL's COPY: texts that every engine reads
--   as the same values, arrays as {"a",NULL}
{% macro text(form, of) %}
{% if form == "float" %}CAST(CAST({{ of }} AS DOUBLE) AS VARCHAR)
{% elif form == "day" %}
CASE
    WHEN CAST({{ of }} AS VARCHAR) LIKE '% (BC)%' THEN REPLACE(CAST({{ of }} AS VARCHAR), ' (BC)', '') || ' BC'
    ELSE CAST({{ of }} AS VARCHAR)
END
{% elif form == "zoned" %}
CASE
    WHEN NOT ISFINITE({{ of }}) THEN CAST({{ of }} AS VARCHAR)
    WHEN CAST(MAKE_TIMESTAMP(EPOCH_US({{ of }})) AS VARCHAR) LIKE '% (BC)%'
        THEN REPLACE(CAST(MAKE_TIMESTAMP(EPOCH_US({{ of }})) AS VARCHAR), ' (BC)', '')
        || '+00 BC'
    ELSE CAST(MAKE_TIMESTAMP(EPOCH_US({{ of }})) AS VARCHAR) || '+00'
END
{% elif form == "bytes" %}'\x' || LOWER(HEX({{ of }}))
{% else %}CAST({{ of }} AS VARCHAR)
{% endif %}
{% endmacro %}
{% macro element(form) %}
{% if form in ("bytes", "text") %}
REPLACE(REPLACE({{ text(form, "e") }}, '\', '\\'), '"', '\"')
{% else %}
{{ text(form, "e") }}
{% endif %}
{% endmacro %}
{% macro value(c) %}
{% if c.array %}
CASE
    WHEN t.{{ c.name | ident }} IS NOT NULL THEN '{'
        || COALESCE(ARRAY_TO_STRING(
            LIST_TRANSFORM(t.{{ c.name | ident }}, LAMBDA e: COALESCE('"' || {{ element(c.form) }} || '"', 'NULL')), ','
        ), '')
        || '}'
END
{% else %}
{{ text(c.form, "t." ~ (c.name | ident)) }}
{% endif %}
{% endmacro %}
{% macro field(c) %}
COALESCE(
{% if c.array or c.form in ("bytes", "text") %}
    REPLACE(REPLACE(REPLACE(REPLACE({{ value(c) }}, '\', '\\'), CHR(9), '\t'), CHR(10), '\n'), CHR(13), '\r')
{% else %}
    {{ value(c) }}
{% endif %}
    , '\N'
)
{% endmacro %}
SELECT
    CONCAT({% for c in columns %}{{ ", CHR(9), " if not loop.first }}{{ field(c) }}{% endfor %}) AS line
FROM {{ target | table }} AS t
