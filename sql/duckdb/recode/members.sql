{% extends "core/recode/members.sql" %}
-- Sorting each list once beats an ordered aggregate by far.
{% block sorted %}LIST_SORT(LIST(d.value)){% endblock %}
{% block distinct %}DISTINCT {% endblock %}
{% block grouped %}{% endblock %}
