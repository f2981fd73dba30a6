{% extends "core/noisy/again_by_weight.sql" %}
{% macro quotient(x, squares) %}
CASE
    WHEN {{ squares }} <= {{ weight * weight }} THEN {{ x }} * {{ steps }}
    ELSE CASE WHEN {{ x }} < 0 THEN -1 ELSE 1 END * (
        CASE
            WHEN {{ x }} < 0 THEN -CAST({{ x }} AS DECIMAL(38, 0))
            ELSE CAST({{ x }} AS DECIMAL(38, 0))
        END * {{ weight * steps * 65536 }} DIV (
            1 + CAST(CEIL(65536 * SQRT(CAST({{ squares }} AS DOUBLE))) AS DECIMAL(38, 0))
        )
    )
END
{% endmacro %}