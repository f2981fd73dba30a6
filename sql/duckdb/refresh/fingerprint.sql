{% extends "core/refresh/fingerprint.sql" %}
-- Hashed once more, and as text: see verify/fingerprint.
{% block value %}
{{ "CAST(s.%s AS VARCHAR)" | format(c.name | ident) if c.listed or c.kind == "other"
    else "s." ~ (c.name | ident) }}{% endblock %}
{% block row %}HASH({{ super() }}){% endblock %}
