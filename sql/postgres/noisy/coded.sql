{% extends "core/noisy/coded.sql" %}
{% macro key(one) %}
CAST(
{% if one.kind == "float" %}
    CASE WHEN s.{{ one.name | ident }} = 0 THEN 0 ELSE s.{{ one.name | ident }} END
{% elif one.kind == "decimal" %}
    trim_scale(s.{{ one.name | ident }})
{% else %}
    s.{{ one.name | ident }}
{% endif %}
    AS text
)
{% endmacro %}
{% macro number(one) %}s.{{ one.name | ident }}{% endmacro %}
{% macro valued(one) %}LOWER(CAST(s.{{ one.name | ident }} AS text)) <> 'nan'{% endmacro %}
{% macro clipped(m) %}LEAST(GREATEST(s.{{ m.name | ident }}, {{ m.low }}), {{ m.high }}){% endmacro %}
{% macro rounded(m) %}
{% if m.float %}
CASE
    WHEN ABS({{ clipped(m) }}) < {{ m.quarter }} THEN 0
    ELSE ROUND(CAST({{ clipped(m) }} AS double precision) / {{ m.unit }})
END
{% else %}
ROUND(CAST({{ clipped(m) }} AS numeric) / {{ m.unit }})
{% endif %}
{% endmacro %}