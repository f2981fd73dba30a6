{% extends "core/table/ordinals.sql" %}
{% block finite %}NOT ISNAN(v.value) AND ABS(CAST(v.value AS DOUBLE)) < CAST('Infinity' AS DOUBLE){% endblock %}
{% block number %}
{% if kind in ("date", "timestamp") %}
    , CAST(
        {{ "UNIX_DATE(v.value)" if kind == "date" else "UNIX_MICROS(CAST(v.value AS TIMESTAMP))" }} AS DECIMAL(38, 0)
    ) AS ord
    , v.value IS NOT NULL AS finite
{% else %}
{{ super() }}
{% endif %}
{% endblock %}
{% block integer %}CAST(v.value AS BIGINT){% endblock %}
