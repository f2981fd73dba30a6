{% extends "core/noisy/again.sql" %}
{% macro hash(text) %}
encode(sha256(convert_to(CAST(:secret AS text) || {{ text }}, 'UTF8')), 'hex') COLLATE "C"
{% endmacro %}
{% macro first(values, order, most) %}(array_agg({{ values }} ORDER BY {{ order }}))[1:{{ most }}]{% endmacro %}
{% block copies %}LATERAL generate_series(1, k.many) AS u(copy){% endblock %}
{% block number %}(SELECT COUNT(x.x) FROM unnest(l.l{{ loop.index }}) AS x(x)){% endblock %}
{% block sum %}(SELECT COALESCE(SUM(x.x), 0) FROM unnest(l.l{{ loop.index }}) AS x(x)){% endblock %}
