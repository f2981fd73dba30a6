-- name: sent/fingerprint
-- params: target (table), columns (list of {name, form (plain, fraction, float, day,
--   zoned, bytes or text), array (bool), width (characters of padded text, or 0)})
-- returns: n bigint, mark text: two sums of 60 bits of each row's SHA-256, equal on all
--   engines for equal multisets of rows
-- Spark has no function for the bits of a float: they are computed from its exponent and its fraction, exactly.
{% from "spark/sent/texts.jinja" import text %}
{% macro normal(of) %}
CASE
    WHEN ISNAN({{ of }})
        OR ABS({{ of }}) = CAST('Infinity' AS DOUBLE)
        OR ABS({{ of }}) < CAST('2.2250738585072014E-308' AS DOUBLE) THEN CAST(1 AS DOUBLE)
    ELSE ABS({{ of }})
END
{% endmacro %}
{% macro near(of) %}LEAST(CAST(FLOOR(LOG2({{ normal(of) }})) AS BIGINT), CAST(1023 AS BIGINT)){% endmacro %}
{% macro exponent(of) %}
({{ near(of) }} + CASE
    WHEN {{ normal(of) }} / POWER(2, {{ near(of) }}) >= 2 THEN 1
    WHEN {{ normal(of) }} / POWER(2, {{ near(of) }}) < 1 THEN -1
    ELSE 0
END)
{% endmacro %}
{% macro bits(of) %}
CONCAT(
    CASE WHEN CAST({{ of }} AS STRING) LIKE '-%' THEN '1' ELSE '0' END
    , LPAD(BIN(CASE
        WHEN ABS({{ of }}) = CAST('Infinity' AS DOUBLE) THEN 9218868437227405312
        WHEN ABS({{ of }})
            < CAST('2.2250738585072014E-308' AS DOUBLE) THEN CAST(
                ABS({{ of }}) * POWER(2, 537) * POWER(2, 537) AS BIGINT
            )
        ELSE ({{ exponent(of) }} + 1023) * 4503599627370496
            + CAST(({{ normal(of) }} / POWER(2, {{ exponent(of) }}) - 1) * 4503599627370496 AS BIGINT)
    END), 63, '0')
)
{% endmacro %}
{% macro float(of) %}
CASE
    WHEN ISNAN(CAST({{ of }} AS DOUBLE)) THEN 'NaN'
    WHEN {{ of }} IS NULL THEN CAST(NULL AS STRING)
    ELSE {{ bits("CAST(" ~ of ~ " AS DOUBLE)") }}
END
{% endmacro %}
{% macro marked(form, of) %}
COALESCE(
{% if form == "text" %}
    CONCAT(CAST(LENGTH({{ text(form, of, float(of)) }}) AS STRING), ':', {{ text(form, of, float(of)) }})
{% else %}
    {{ text(form, of, float(of)) }}
{% endif %}
    , 'N'
)
{% endmacro %}
SELECT
    COUNT(*) AS n
    , CONCAT(
        CAST(COALESCE(SUM(CAST(CONV(SUBSTR(h.mark, 1, 15), 16, 10) AS DECIMAL(20, 0))), 0) AS STRING), ' '
        , CAST(COALESCE(SUM(CAST(CONV(SUBSTR(h.mark, 16, 15), 16, 10) AS DECIMAL(20, 0))), 0) AS STRING)
    ) AS mark
FROM (
    SELECT
        SHA2(CONCAT(
{% for c in columns %}
            {{ ", ';', " if not loop.first }}
{% if c.array %}
                CASE
                    WHEN t.{{ c.name | ident }} IS NULL THEN 'N'
                    ELSE CONCAT(
                        '[', ARRAY_JOIN(TRANSFORM(t.{{ c.name | ident }}, e -> {{ marked(c.form, "e") }}), ','), ']'
                    )
                END
{% else %}
                {{ marked(c.form, "t." ~ (c.name | ident)) }}
{% endif %}
{% endfor %}
        ), 256) AS mark
    FROM {{ target | table }} AS t
) AS h
