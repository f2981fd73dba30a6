{% extends "core/table/level_steps.sql" %}
{% block decimal %}
CASE WHEN v.value NOT IN ('NaN', 'Infinity', '-Infinity') THEN floor(v.value * {{ scale }}) END
{% endblock %}