{% extends "core/verify/staged.sql" %}
-- Hashed once more, and as text: see verify/fingerprint.
{% block kept %}
{{ "CAST(s.%s AS VARCHAR)" | format(c.column | ident) if c.kind == "other" else super() }}{% endblock %}
{% block row %}
{% if published | selectattr("source", "equalto", "s") | list %}HASH({{ super() }}){% else %}{{ super() }}{% endif %}

{% endblock %}
