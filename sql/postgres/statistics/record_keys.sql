{% extends "core/statistics/record_keys.sql" %}
{% block digits %}
encode(sha256(
    decode(CAST(:outer AS text), 'hex') || sha256(decode(CAST(:inner AS text), 'hex') || convert_to(o.owner, 'UTF8'))
), 'hex')
{% endblock %}