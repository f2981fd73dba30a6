{% extends "core/noisy/bounded_by_weight.sql" %}
{% macro weighed(x, root) %}
CAST(CASE
    WHEN {{ root }} IS NULL THEN CAST({{ x }} AS numeric) * {{ steps }}
    ELSE SIGN({{ x }}) * div(ABS(CAST({{ x }} AS numeric)) * {{ weight * steps * 65536 }}, {{ root }})
END AS BIGINT)
{% endmacro %}