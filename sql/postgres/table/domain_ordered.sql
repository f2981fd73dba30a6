{% extends "core/table/domain_ordered.sql" %}
{% block place %}
        ELSE div((o.ord - e.low) * 1048576, e.high - e.low)
{% endblock %}
{% block wide %}{% endblock %}
{% block step %}{% endblock %}
