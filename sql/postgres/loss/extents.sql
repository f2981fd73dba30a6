{% extends "core/loss/extents.sql" %}
{% macro between(c, low, high) %}
{% if c.kind == "timestamp" %}
trunc(extract(epoch FROM {{ high }}) * 1000000) - trunc(extract(epoch FROM {{ low }}) * 1000000)
{%- elif c.kind == "float" %}
CAST({{ high }} AS double precision) - CAST({{ low }} AS double precision)
{%- elif c.kind == "date" %}
CAST({{ high }} - {{ low }} AS numeric)
{%- else %}
CAST({{ high }} AS numeric) - CAST({{ low }} AS numeric)
{%- endif %}
{% endmacro %}
{% block infinite %}
{% if c.kind in ("date", "timestamp") %}
{{ super() }}
{% elif c.kind in ("float", "decimal") %}
            WHEN l{{ c.code }}.value IN ('NaN', 'Infinity', '-Infinity')
                OR h{{ c.code }}.value IN ('NaN', 'Infinity', '-Infinity') THEN NULL
{% endif %}
{% endblock %}
{% block greatest %}CAST(1.79e308 AS double precision){% endblock %}
