{% extends "core/table/ordinals.sql" %}
{% block finite %}CAST(v.value AS double precision) NOT IN ('NaN', 'Infinity', '-Infinity'){% endblock %}
{% block moment %}trunc(extract(epoch FROM v.value) * 1000000){% endblock %}
{% block number %}
{% if kind == "decimal" %}
    , CASE WHEN v.value NOT IN ('NaN', 'Infinity', '-Infinity') THEN v.value END AS ord
    , COALESCE(v.value NOT IN ('NaN', 'Infinity', '-Infinity'), FALSE) AS finite
{% else %}
{{ super() }}
{% endif %}
{% endblock %}
{% block integer %}{{ "CAST(v.value AS integer)" if kind == "boolean" else "v.value" }}{% endblock %}
