{% extends "core/verify/staged.sql" %}
-- Hashed once more: see verify/fingerprint.
{% block row %}
{% if published | selectattr("source", "equalto", "s") | list %}HASH({{ super() }}){% else %}{{ super() }}{% endif %}

{% endblock %}
