{% extends "core/datacube/spread.sql" %}
{% block series %}generate_series(r.low, r.high){% endblock %}
