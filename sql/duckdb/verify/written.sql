{% extends "core/verify/written.sql" %}
-- Hashed once more: see verify/fingerprint. By mark no kept value is hashed with a mark.
{% block kept_value %}
{{ "CAST(w.%s AS VARCHAR)" | format(c.name | ident) if c.kind == "other" and not by_mark else super() }}{% endblock %}
{% block row %}
{% if kept and not by_mark %}HASH({{ super() }}){% else %}{{ super() }}{% endif %}

{% endblock %}
