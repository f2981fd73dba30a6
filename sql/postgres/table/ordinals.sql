-- name: table/ordinals
-- params: ordinals (table to make), values (table), kind (of the column), ranks (table of value, rank, or none), nanoseconds (bool: a timestamp that has them)
-- returns: value, n, ord (exact integer, or double for floats; NULL for NULL), finite boolean
CREATE {{ ordinals | scratch }} AS
SELECT
    v.value AS value
    , v.n AS n
{% if ranks %}
    , CAST(CASE WHEN v.value IS NOT NULL THEN row_number() OVER (ORDER BY r.rank NULLS FIRST) END AS numeric) AS ord
    , TRUE AS finite
FROM {{ values | table }} AS v
LEFT JOIN {{ ranks | table }} AS r ON r.value = v.value
{% elif kind == "float" %}
    , CAST(v.value AS double precision) AS ord
    , COALESCE(CAST(v.value AS double precision) NOT IN ('NaN', 'Infinity', '-Infinity'), FALSE) AS finite
FROM {{ values | table }} AS v
{% elif kind == "date" %}
    , CASE WHEN isfinite(v.value) THEN CAST(v.value - DATE '1970-01-01' AS numeric) END AS ord
    , COALESCE(isfinite(v.value), FALSE) AS finite
FROM {{ values | table }} AS v
{% elif kind == "timestamp" %}
    , CASE WHEN isfinite(v.value) THEN trunc(extract(epoch FROM v.value) * 1000000) END AS ord
    , COALESCE(isfinite(v.value), FALSE) AS finite
FROM {{ values | table }} AS v
{% elif kind == "decimal" %}
    , CASE WHEN v.value NOT IN ('NaN', 'Infinity', '-Infinity') THEN v.value END AS ord
    , COALESCE(v.value NOT IN ('NaN', 'Infinity', '-Infinity'), FALSE) AS finite
FROM {{ values | table }} AS v
{% elif kind in ("text", "enum") %}
    , CAST(CASE WHEN v.value IS NOT NULL THEN row_number() OVER (ORDER BY v.value NULLS FIRST) END AS numeric) AS ord
    , v.value IS NOT NULL AS finite
FROM {{ values | table }} AS v
{% elif kind == "boolean" %}
    , CAST(CAST(v.value AS integer) AS numeric) AS ord
    , v.value IS NOT NULL AS finite
FROM {{ values | table }} AS v
{% else %}
    , CAST(v.value AS numeric) AS ord
    , v.value IS NOT NULL AS finite
FROM {{ values | table }} AS v
{% endif %}
