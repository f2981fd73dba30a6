-- name: table/domain_ordered
-- params: domain (table to make), ordinals (table, or none), kind (of the column), by_ord (bool: ord is a
--   given order's rank), whole (bool: ordinals is the frequency set of integers of at most 64 bits, which
--   are ordinals themselves), counted ({stage, column}: with whole, where ordinals is counted now; or none)
-- returns: code integer (NULL first, then by value), value, n bigint, pos integer in 0..2^20, ord double
-- ord is the value on a line: 0 for -infinity, NULLs and constants; the whole range for +infinity and NaN, 1 where
-- the finite values have no range.
{% macro scaled(x) %}
CASE WHEN e.high < 1e307 AND e.low > -1e307 THEN {{ x }} WHEN ABS({{ x }}) < 1e200 THEN 0 ELSE {{ x }} * 0.5 END
{%- endmacro %}
{% set below = "o.value < COALESCE(e.low_value, " ~ ("0" if kind in ("float", "decimal")
    else "DATE '1970-01-01'") ~ ")" %}
CREATE {{ domain | scratch }} AS
SELECT
    CAST(ROW_NUMBER() OVER (ORDER BY {{ "o.ord" if by_ord else "o.value" }} NULLS FIRST) - 1 AS INTEGER) AS code
    , o.value AS value
    , o.n AS n
    , CAST(CASE
        WHEN o.value IS NULL THEN 0
{% if kind in ("float", "date", "timestamp", "decimal") %}
        WHEN NOT o.finite THEN CASE WHEN {{ below }} THEN 0 ELSE 1048576 END
{% endif %}
        WHEN e.high = e.low THEN 0
{% if kind == "float" %}
        ELSE FLOOR(
            (({{ scaled('o.ord') }}) - ({{ scaled('e.low') }})) / (({{ scaled('e.high') }}) - ({{ scaled('e.low') }}))
                * 1048576::{{ dialect.double }}
        )
{% else %}
{% block place %}
{% if whole %}
        ELSE ((o.ord - e.low) * 1048576) // (e.high - e.low)
{% else %}
        ELSE ((o.ord // e.step - e.low // e.step) * 1048576) // (e.high // e.step - e.low // e.step)
{% endif %}
{% endblock %}
{% endif %}
      END AS INTEGER) AS pos
    , CAST(CASE
        WHEN o.value IS NULL THEN 0
{% if kind in ("float", "date", "timestamp", "decimal") %}
        WHEN NOT o.finite
            THEN CASE
                WHEN {{ below }} THEN 0
                WHEN e.low IS NULL OR e.low = e.high THEN 1
                ELSE
{% if kind == "float" %}
                    {{ scaled('e.high') }} - {{ scaled('e.low') }}
{% else %}
                    CAST(e.high AS {{ dialect.double }}) - CAST(e.low AS {{ dialect.double }})
{% endif %}
            END
{% endif %}
{% if kind == "float" %}
        ELSE {{ scaled('o.ord') }} - {{ scaled('e.low') }}
{% else %}
{% block wide %}
{% if not whole %}
        WHEN e.step > 1 THEN CAST(o.ord AS {{ dialect.double }}) - CAST(e.low AS {{ dialect.double }})
{% endif %}
{% endblock %}
        ELSE CAST(o.ord - e.low AS {{ dialect.double }})
{% endif %}
      END AS {{ dialect.double }}) AS ord
{% if whole %}
FROM (
    SELECT v.value AS value, v.n AS n, CAST(v.value AS {{ dialect.wide }}) AS ord
    FROM {{ ordinals | table }} AS v
) AS o
{% else %}
FROM {{ ordinals | table }} AS o
{% endif %}
CROSS JOIN (
{% if whole %}
    SELECT CAST(MIN(f.value) AS {{ dialect.wide }}) AS low, CAST(MAX(f.value) AS {{ dialect.wide }}) AS high
    FROM {{ ordinals | table }} AS f
{% else %}
    SELECT
        MIN(f.ord) AS low
        , MAX(f.ord) AS high
{% block step %}
{% if kind != "float" %}
            , CASE
                WHEN MAX(f.ord) // 4294967296 - MIN(f.ord) // 4294967296
                    > 1099511627776 THEN CAST(4294967296 AS {{ dialect.wide }})
                ELSE CAST(1 AS {{ dialect.wide }})
            END AS step
{% endif %}
{% endblock %}
{% if kind in ("float", "date", "timestamp", "decimal") %}
        , MIN(f.value) AS low_value
{% endif %}
    FROM {{ ordinals | table }} AS f
    WHERE f.finite
{% endif %}
) AS e
