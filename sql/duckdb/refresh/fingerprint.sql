{% extends "core/refresh/fingerprint.sql" %}
-- Hashed once more: see verify/fingerprint.
{% block row %}HASH({{ super() }}){% endblock %}
