{% extends "core/publish/link.sql" %}
{% macro hashed(name) %}hash_record_extended(ROW(s.{{ name }}), 0){% endmacro %}
{% block class %}
{% if groups.dense and not groups.alone %}
(SELECT array_agg(r.{{ groups.group }} ORDER BY r.{{ groups.key }}) FROM {{ groups.table | table }} AS r)[s.class + 1]
{% else %}
{{ super() }}
{% endif %}
{% endblock %}
{% block groups_joined %}
{% if not groups.dense %}
{{ super() }}
{% endif %}
{% endblock %}
