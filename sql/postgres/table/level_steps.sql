-- name: table/level_steps
-- params: values (a frequency set), kind (of the column), scale (integer: 10 to the number of decimals), origin (integer: where an interval
--   begins, times scale), steps (list of integers: widths, times scale), zoned (bool: a timestamp with time zone)
-- returns: value, and per step low1.. (an integer: where its interval begins, times scale; days since 1970-01-01 for dates; NULL: no
--   interval has it): every value that is not NULL
-- A float lies in the interval of the decimal numbers whose nearest floats enclose it.
{% set v = "CAST(v.value AS timestamp)" if zoned else "v.value" %}
SELECT
    p.value AS value
{% for step in steps %}
    , p.place - mod(mod(p.place - CAST({{ origin }} AS numeric), CAST({{ step }} AS numeric)) + CAST({{ step }} AS numeric), CAST({{ step }} AS numeric)) AS low{{ loop.index }}
{% endfor %}
FROM (
{% if kind == "float" %}
    SELECT
        f.value AS value
        , CAST(CASE
            WHEN f.place IS NULL THEN NULL
            WHEN f.x >= (f.place + 1) / CAST({{ scale }} AS double precision) THEN f.place + 1
            WHEN f.x < f.place / CAST({{ scale }} AS double precision) THEN f.place - 1
            ELSE f.place
          END AS numeric) AS place
    FROM (
        SELECT
            v.value AS value
            , CAST(v.value AS double precision) AS x
            , CASE WHEN abs(CAST(v.value AS double precision)) < CAST(1000000000000000 AS double precision) / {{ scale }} THEN floor(CAST(v.value AS double precision) * {{ scale }}) END AS place
        FROM {{ values | table }} AS v
        WHERE v.value IS NOT NULL
    ) AS f
{% else %}
    SELECT
        v.value AS value
{% if kind in ("date", "timestamp") %}
        , CASE WHEN isfinite({{ v }}) THEN CAST(CAST({{ v }} AS date) - DATE '1970-01-01' AS numeric) END AS place
{% elif kind == "decimal" %}
        , CASE WHEN v.value NOT IN ('NaN', 'Infinity', '-Infinity') THEN floor(v.value * {{ scale }}) END AS place
{% else %}
        , CAST(v.value AS numeric) AS place
{% endif %}
    FROM {{ values | table }} AS v
    WHERE v.value IS NOT NULL
{% endif %}
) AS p
