{% extends "core/table/values.sql" %}
{% block value %}g.value{% endblock %}
{% block staged %}
{% if as_text %}CAST(s.{{ column | ident }} AS text) COLLATE "C"{% else %}s.{{ column | ident }}{% endif %}
{% endblock %}