{% extends "core/noisy/bounded_by_weight.sql" %}
{% macro weighed(x, root) %}
CAST(CASE
    WHEN {{ root }} IS NULL THEN CAST({{ x }} AS DECIMAL(38, 0)) * {{ steps }}
    ELSE (CASE WHEN {{ x }} < 0 THEN -1 ELSE 1 END)
        * (ABS(CAST({{ x }} AS DECIMAL(38, 0))) * {{ weight * steps * 65536 }} DIV {{ root }})
END AS BIGINT)
{% endmacro %}