-- name: table/ordinals
-- params: ordinals (table to make), values (table), kind (of the column), ranks (table of value, rank, or none), nanoseconds (bool: a timestamp that has them)
-- returns: value, n, ord (exact integer, or double for floats; NULL for NULL), finite boolean
CREATE {{ ordinals | scratch }} AS
SELECT
    v.value AS value
    , v.n AS n
{% if ranks %}
    , CAST(CASE WHEN v.value IS NOT NULL THEN ROW_NUMBER() OVER (ORDER BY r.rank NULLS FIRST) END AS HUGEINT) AS ord
    , TRUE AS finite
FROM {{ values | table }} AS v
LEFT JOIN {{ ranks | table }} AS r ON r.value = v.value
{% elif kind == "float" %}
    , CAST(v.value AS DOUBLE) AS ord
    , COALESCE(ISFINITE(v.value), FALSE) AS finite
FROM {{ values | table }} AS v
{% elif kind == "date" %}
    , CASE WHEN ISFINITE(v.value) THEN CAST(v.value - DATE '1970-01-01' AS HUGEINT) END AS ord
    , COALESCE(ISFINITE(v.value), FALSE) AS finite
FROM {{ values | table }} AS v
{% elif kind == "timestamp" %}
    , CASE WHEN ISFINITE(v.value) THEN CAST({{ "EPOCH_NS" if nanoseconds else "EPOCH_US" }}(v.value) AS HUGEINT) END AS ord
    , COALESCE(ISFINITE(v.value), FALSE) AS finite
FROM {{ values | table }} AS v
{% elif kind == "decimal" %}
    -- The unscaled integer: DuckDB prints every digit of a decimal's scale.
    , CAST(REPLACE(CAST(v.value AS VARCHAR), '.', '') AS HUGEINT) AS ord
    , v.value IS NOT NULL AS finite
FROM {{ values | table }} AS v
{% elif kind in ("text", "enum") %}
    , CAST(CASE WHEN v.value IS NOT NULL THEN ROW_NUMBER() OVER (ORDER BY v.value NULLS FIRST) END AS HUGEINT) AS ord
    , v.value IS NOT NULL AS finite
FROM {{ values | table }} AS v
{% else %}
    , CAST(v.value AS HUGEINT) AS ord
    , v.value IS NOT NULL AS finite
FROM {{ values | table }} AS v
{% endif %}
