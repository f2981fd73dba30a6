-- name: table/ordinals
-- params: ordinals (table to make), values (table), kind (of the column), ranks (table of value, rank, or none), nanoseconds (bool: a timestamp that has them)
-- returns: value, n, ord (exact integer, or double for floats; NULL for NULL), finite boolean
CREATE {{ ordinals | scratch }} AS
SELECT
    v.value AS value
    , v.n AS n
{% if ranks %}
    , CAST(CASE WHEN v.value IS NOT NULL THEN ROW_NUMBER() OVER (ORDER BY r.rank NULLS FIRST) END AS DECIMAL(38, 0)) AS ord
    , TRUE AS finite
FROM {{ values | table }} AS v
LEFT JOIN {{ ranks | table }} AS r ON r.value = v.value
{% elif kind == "float" %}
    , CAST(v.value AS DOUBLE) AS ord
    , COALESCE(NOT ISNAN(v.value) AND ABS(CAST(v.value AS DOUBLE)) < CAST('Infinity' AS DOUBLE), FALSE) AS finite
FROM {{ values | table }} AS v
{% elif kind == "date" %}
    , CAST(UNIX_DATE(v.value) AS DECIMAL(38, 0)) AS ord
    , v.value IS NOT NULL AS finite
FROM {{ values | table }} AS v
{% elif kind == "timestamp" %}
    , CAST(UNIX_MICROS(CAST(v.value AS TIMESTAMP)) AS DECIMAL(38, 0)) AS ord
    , v.value IS NOT NULL AS finite
FROM {{ values | table }} AS v
{% elif kind == "decimal" %}
    -- The unscaled integer: Spark prints every digit of a decimal's scale.
    , CAST(REPLACE(CAST(v.value AS STRING), '.', '') AS DECIMAL(38, 0)) AS ord
    , v.value IS NOT NULL AS finite
FROM {{ values | table }} AS v
{% elif kind in ("text", "enum") %}
    , CAST(CASE WHEN v.value IS NOT NULL THEN ROW_NUMBER() OVER (ORDER BY v.value NULLS FIRST) END AS DECIMAL(38, 0)) AS ord
    , v.value IS NOT NULL AS finite
FROM {{ values | table }} AS v
{% else %}
    , CAST(CAST(v.value AS BIGINT) AS DECIMAL(38, 0)) AS ord
    , v.value IS NOT NULL AS finite
FROM {{ values | table }} AS v
{% endif %}
