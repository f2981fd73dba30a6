{% extends "core/datacube/spread.sql" %}
{% block series %}EXPLODE(SEQUENCE(r.low, r.high)){% endblock %}
