-- name: table/level_steps
-- params: values (a frequency set), kind (of the column), scale (integer: 10 to the number
--   of decimals), origin (integer: where an interval begins, times scale), steps (list of
--   integers: widths, times scale), zoned (bool: a timestamp with time zone)
-- returns: value, and per step low1.. (an integer: where its interval begins, times scale;
--   days since 1970-01-01 for dates; NULL: no interval has it): every value that is not NULL
-- A float lies in the interval of the decimal numbers whose nearest floats enclose it.
{% set v = "CAST(v.value AS TIMESTAMP)" if zoned else "v.value" %}
SELECT
    p.value AS value
{% for step in steps %}
    , p.place - MOD(
        MOD(
            p.place - CAST({{ origin }} AS {{ dialect.wide }}), CAST({{ step }} AS {{ dialect.wide }})
        ) + CAST({{ step }} AS {{ dialect.wide }})
        , CAST({{ step }} AS {{ dialect.wide }})
    ) AS low{{ loop.index }}
{% endfor %}
FROM (
{% if kind == "float" %}
    SELECT
        f.value AS value
        , CAST(CASE
            WHEN f.place IS NULL THEN NULL
            WHEN f.x >= (f.place + 1) / CAST({{ scale }} AS {{ dialect.double }}) THEN f.place + 1
            WHEN f.x < f.place / CAST({{ scale }} AS {{ dialect.double }}) THEN f.place - 1
            ELSE f.place
          END AS {{ dialect.wide }}) AS place
    FROM (
        SELECT
            v.value AS value
            , CAST(v.value AS {{ dialect.double }}) AS x
            , CASE
                WHEN ABS(CAST(v.value AS {{ dialect.double }}))
                    < CAST(1000000000000000 AS {{ dialect.double }})
                        / {{ scale }} THEN FLOOR(CAST(v.value AS {{ dialect.double }}) * {{ scale }})
            END AS place
        FROM {{ values | table }} AS v
        WHERE v.value IS NOT NULL
    ) AS f
{% else %}
    SELECT
        v.value AS value
{% if kind in ("date", "timestamp") %}
        , CASE
            WHEN ISFINITE({{ v }}) THEN CAST(CAST({{ v }} AS DATE) - DATE '1970-01-01' AS {{ dialect.wide }})
        END AS place
{% elif kind == "decimal" %}
        , {% block decimal %}CAST(FLOOR(v.value * {{ scale }}) AS {{ dialect.wide }}){% endblock %} AS place
{% else %}
        , CAST(v.value AS {{ dialect.wide }}) AS place
{% endif %}
    FROM {{ values | table }} AS v
    WHERE v.value IS NOT NULL
{% endif %}
) AS p
