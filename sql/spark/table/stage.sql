{% extends "core/table/stage.sql" %}
-- Row ids are made of what was written (table/numbered): what is drawn here is drawn anew whenever it is read.
-- FLOOR makes a whole number of a double: beyond 2^52 doubles are whole already.
-- Text gets the collation of bytes here, once. A hash passes over NULLs, so that each value says whether it is one.
{% macro hashed(names) %}
XXHASH64(
    {% for name in names %}{{ ", " if not loop.first }}s.{{ name | ident }}{% endfor %}
{% for name in names %}
    , s.{{ name | ident }} IS NULL
{% endfor %}
)
{%- endmacro %}
{% macro keyed(text) %}SHA2(:secret || {{ text }}, 256){% endmacro %}
{% macro asked_type(c) %}{{ "STRING" if c.recode.type == "VARCHAR" else c.recode.type }}{% endmacro %}
{% macro nearest(x, unit) %}
{% set y = "(%s / CAST(%s AS DOUBLE) + 0.5)" | format(x, unit) %}
CASE WHEN ABS({{ y }}) < 4503599627370496 THEN CAST(FLOOR({{ y }}) AS DOUBLE) ELSE {{ y }} END
{% endmacro %}
{% block row_id %}MONOTONICALLY_INCREASING_ID() AS _sqlanon_at{% endblock %}
{% block column %}
{{ "CAST(s.%s AS STRING)" | format(column.name | ident) if column.binary else "s." ~ (column.name | ident) }}
{% endblock %}
{% block hashed %}{{ hashed(link | map(attribute="name") | list) }}{% endblock %}
{% block unlike %}-1 - MONOTONICALLY_INCREASING_ID(){% endblock %}
{% block number %}{{ hashed(one.columns) }}{% endblock %}
{% block token %}
SUBSTRING(SHA2(
    UNHEX(:{{ one.alias }}_outer) || UNHEX(
        SHA2(UNHEX(:{{ one.alias }}_inner) || ENCODE(CAST(s.{{ one.name | ident }} AS STRING), 'UTF-8'), 256)
    )
    , 256
), 1, 32) END
{% endblock %}