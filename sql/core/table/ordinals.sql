-- name: table/ordinals
-- params: ordinals (table to make), values (table), kind (of the column), ranks (table of
--   value, rank, or none), nanoseconds (bool: a timestamp that has them)
-- returns: value, n, ord (exact integer, or double for floats; NULL for NULL), finite boolean
CREATE {{ ordinals | scratch }} AS
SELECT
    v.value AS value
    , v.n AS n
{% if ranks %}
    , CAST(
        CASE WHEN v.value IS NOT NULL THEN ROW_NUMBER() OVER (ORDER BY r.rank NULLS FIRST) END AS {{ dialect.wide }}
    ) AS ord
    , TRUE AS finite
FROM {{ values | table }} AS v
LEFT JOIN {{ ranks | table }} AS r ON r.value = v.value
{% else %}
{% block number %}
{% if kind == "float" %}
    , CAST(v.value AS {{ dialect.double }}) AS ord
    , COALESCE({% block finite %}ISFINITE(v.value){% endblock %}, FALSE) AS finite
{% elif kind == "date" %}
    , CASE WHEN ISFINITE(v.value) THEN CAST(v.value - DATE '1970-01-01' AS {{ dialect.wide }}) END AS ord
    , COALESCE(ISFINITE(v.value), FALSE) AS finite
{% elif kind == "timestamp" %}
    , CASE
        WHEN ISFINITE(v.value) THEN
{% block moment %}
            CAST({{ "EPOCH_NS" if nanoseconds else "EPOCH_US" }}(v.value) AS HUGEINT)
{% endblock %}
    END AS ord
    , COALESCE(ISFINITE(v.value), FALSE) AS finite
{% elif kind == "decimal" %}
    -- The unscaled integer: every digit of a decimal's scale is printed.
    , CAST(REPLACE(CAST(v.value AS {{ dialect.text }}), '.', '') AS {{ dialect.wide }}) AS ord
    , v.value IS NOT NULL AS finite
{% elif kind in ("text", "enum") %}
    , CAST(
        CASE WHEN v.value IS NOT NULL THEN ROW_NUMBER() OVER (ORDER BY v.value NULLS FIRST) END AS {{ dialect.wide }}
    ) AS ord
    , v.value IS NOT NULL AS finite
{% else %}
    , CAST({% block integer %}v.value{% endblock %} AS {{ dialect.wide }}) AS ord
    , v.value IS NOT NULL AS finite
{% endif %}
{% endblock %}
FROM {{ values | table }} AS v
{% endif %}
