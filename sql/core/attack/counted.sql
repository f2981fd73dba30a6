-- name: attack/counted
-- params: target (table of groups and their sensitive values), group, count (its columns), value ({name:
--   its sensitive column, domain (table of code, value), as_float, as_text, nulls (bool: NULL is code 0)})
-- returns: number integer (of the group), code integer: the value's, a negative number of
--   it where the source has no such value, n bigint
{% set name = "t." ~ (value.name | ident) %}
SELECT
    CAST(t.{{ group | ident }} AS INTEGER) AS number
    , CAST(COALESCE(
        d.code,
{% if value.nulls %}
        CASE WHEN {{ name }} IS NULL THEN 0 END,
{% endif %}
        -DENSE_RANK() OVER (ORDER BY {{ name }})
    ) AS INTEGER) AS code
    , CAST(t.{{ count | ident }} AS BIGINT) AS n
FROM {{ target | table }} AS t
LEFT JOIN {{ value.domain | table }} AS d
    ON d.value
        = {{ "CAST(%s AS VARCHAR)" | format(name) if value.as_text else name ~ (" + 0" if value.as_float else "") }}
