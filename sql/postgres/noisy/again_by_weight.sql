{% extends "core/noisy/again_by_weight.sql" %}
{% macro divisor(squares) %}
(1 + CAST(CEIL(65536 * SQRT(CAST({{ squares }} AS double precision))) AS numeric))
{% endmacro %}
{% macro quotient(x, squares) %}
CASE
    WHEN {{ squares }} <= {{ weight * weight }} THEN {{ x }} * {{ steps }}
    ELSE (
        {{ x }} * {{ weight * steps * 65536 }} - MOD({{ x }} * {{ weight * steps * 65536 }}, {{ divisor(squares) }})
    ) / {{ divisor(squares) }}
END
{% endmacro %}