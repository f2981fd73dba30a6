{% extends "core/table/level_calendar.sql" %}
{% block quarter %}CAST((d.months - 1) / 3 AS bigint){% endblock %}
