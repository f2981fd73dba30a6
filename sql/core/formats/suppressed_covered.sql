-- name: formats/suppressed_covered
-- params: classed, claimed (tables), columns (list of {alias, names, as_text})
-- returns: n bigint (staged rows that reach the release), uncovered bigint (rows that what
--   is published for them does not cover)
-- Compares staged original values with released ones, by class; it knows nothing of codes or methods.
{% macro as_shown(c, value) %}{{ "CAST(" ~ value ~ " AS VARCHAR)" if c.as_text else value }}{% endmacro %}
SELECT
    COUNT(*) AS n
    , CAST(COALESCE(SUM(CASE WHEN TRUE
{% for c in columns %}
{% set out = "r." ~ (c.names.value | ident) %}
        AND COALESCE(
            CASE
                WHEN {{ "r." ~ (c.names.suppressed | ident) if c.names.suppressed else out ~ " IS NULL" }}
                    THEN {{ out }} IS NULL
                ELSE {{ as_shown(c, out) }} IS NOT DISTINCT FROM {{ as_shown(c, "s." ~ c.alias) }}
            END
        , FALSE)
{% endfor %}
        THEN 0 ELSE 1 END), 0) AS BIGINT) AS uncovered
FROM {{ classed | table }} AS s
JOIN {{ claimed | table }} AS r ON r._sqlanon_class = s.class
