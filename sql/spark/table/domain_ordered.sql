-- name: table/domain_ordered
-- A decimal of 38 digits holds 2^20 times a range of 31; of a wider one pos is computed in doubles.
{% macro scaled(x) %}
CASE WHEN e.high < 1e307 AND e.low > -1e307 THEN {{ x }} WHEN ABS({{ x }}) < 1e200 THEN 0 ELSE {{ x }} * 0.5D END
{%- endmacro %}
{% set ends = "o" if whole else "e" %}
{% set range = "(CAST(%s.high AS DOUBLE) - CAST(%s.low AS DOUBLE))" | format(ends, ends) %}
{% set above = "(CAST(o.ord AS DOUBLE) - CAST(%s.low AS DOUBLE))" | format(ends) %}
CREATE {{ domain | scratch }} AS
SELECT
    CAST(ROW_NUMBER() OVER (ORDER BY {{ "o.ord" if by_ord else "o.value" }} NULLS FIRST) - 1 AS INT) AS code
    , o.value AS value
    , o.n AS n
    , CAST(CASE
        WHEN o.value IS NULL THEN 0
{% if kind == "float" and not by_ord %}
        WHEN NOT o.finite THEN CASE WHEN o.value < COALESCE(e.low_value, 0) THEN 0 ELSE 1048576 END
{% endif %}
        WHEN {{ ends }}.high = {{ ends }}.low THEN 0
{% if kind == "float" %}
        ELSE FLOOR(
            (({{ scaled('o.ord') }}) - ({{ scaled('e.low') }})) / (({{ scaled('e.high') }}) - ({{ scaled('e.low') }}))
                * 1048576D
        )
{% else %}
        WHEN {{ range }} > 1e31 THEN FLOOR({{ above }} / {{ range }} * 1048576D)
        ELSE ((o.ord - {{ ends }}.low) * 1048576) DIV ({{ ends }}.high - {{ ends }}.low)
{% endif %}
      END AS INT) AS pos
    , CAST(CASE
        WHEN o.value IS NULL THEN 0
{% if kind == "float" and not by_ord %}
        WHEN NOT o.finite
            THEN CASE
                WHEN o.value < COALESCE(e.low_value, 0) THEN 0
                WHEN e.low IS NULL OR e.low = e.high THEN 1
                ELSE {{ scaled('e.high') }} - {{ scaled('e.low') }}
            END
{% endif %}
{% if kind == "float" %}
        ELSE {{ scaled('o.ord') }} - {{ scaled('e.low') }}
{% else %}
        WHEN {{ range }} > 1e31 THEN {{ above }}
        ELSE CAST(o.ord - {{ ends }}.low AS DOUBLE)
{% endif %}
      END AS DOUBLE) AS ord
{% if whole %}
FROM (
    SELECT
        v.value AS value
        , v.n AS n
        , CAST(v.value AS DECIMAL(38, 0)) AS ord
        , CAST(MIN(v.value) OVER () AS DECIMAL(38, 0)) AS low
        , CAST(MAX(v.value) OVER () AS DECIMAL(38, 0)) AS high
{% if counted %}
    FROM (
        SELECT s.{{ counted.column | ident }} AS value, COUNT(*) AS n
        FROM {{ counted.stage | table }} AS s
        GROUP BY s.{{ counted.column | ident }}
    ) AS v
{% else %}
    FROM {{ ordinals | table }} AS v
{% endif %}
) AS o
{% else %}
FROM {{ ordinals | table }} AS o
CROSS JOIN (
    SELECT MIN(f.ord) AS low, MAX(f.ord) AS high{% if kind == "float" %}, MIN(f.value) AS low_value{% endif %}

    FROM {{ ordinals | table }} AS f
    WHERE f.finite
) AS e
{% endif %}
