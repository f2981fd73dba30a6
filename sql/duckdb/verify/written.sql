{% extends "core/verify/written.sql" %}
-- Hashed once more: see verify/fingerprint. By mark no kept value is hashed with a mark.
{% block row %}
{% if kept and not by_mark %}HASH({{ super() }}){% else %}{{ super() }}{% endif %}

{% endblock %}
