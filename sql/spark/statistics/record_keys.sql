{% extends "core/statistics/record_keys.sql" %}
{% block number %}CAST(CONV(SUBSTRING(h.digits, 1, 8), 16, 10) AS BIGINT){% endblock %}
{% block digits %}SHA2(UNHEX(:outer) || UNHEX(SHA2(UNHEX(:inner) || ENCODE(o.owner, 'UTF-8'), 256)), 256){% endblock %}
