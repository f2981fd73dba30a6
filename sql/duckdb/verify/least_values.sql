{% extends "core/verify/least_values.sql" %}
-- Sets of few different values are numbers of which each value is a bit.
{% macro same_values(c, i, ends) %}
{% if c.bits %}
COALESCE(
    b{{ i }}.id = g.bits{{ i }} AND ARRAY_LENGTH(r.{{ c.names.value | ident }}, 1) = BIT_COUNT(g.bits{{ i }}), FALSE
)
{% else %}
{{ ends }}
{% endif %}
{% endmacro %}
{% macro same_some(c, low, high, ends) %}
{% if not c.bits %}
    AND (({{ low }} IS NULL AND {{ high }} IS NULL) OR {{ ends }})
{% endif %}
{% endmacro %}
{% block values %}{% if c.bits %}{{ c.bits }} AS bits{{ i }}{% else %}{{ super() }}{% endif %}{% endblock %}
{% block sets %}
{% if c.bits %}
LEFT JOIN {{ c.said | table }} AS b{{ i }} ON b{{ i }}.value = r.{{ c.names.value | ident }}
{% endif %}
{% endblock %}
