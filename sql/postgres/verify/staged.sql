-- name: verify/staged
{% macro hashed(of, name, as_text, kind) %}
{% if as_text %}CAST({{ of }}.{{ name | ident }} AS text){% else %}{{ of }}.{{ name | ident }}{% endif %}
{% if kind == "float" %}, {{ of }}.{{ name | ident }} IS NULL
{% elif kind == "decimal" %}
, CASE
    WHEN {{ of }}.{{ name | ident }} IS NULL THEN ''
    WHEN {{ of }}.{{ name | ident }} - {{ of }}.{{ name | ident }} <> 0 THEN CAST({{ of }}.{{ name | ident }} AS text)
END
{% endif %}
{% endmacro %}
SELECT
    COUNT(*) AS n
    , CAST(COALESCE(SUM(hash_numeric_extended(CAST(hash_record_extended(ROW(
{% if dense %}
        (SELECT array_agg(r.mark ORDER BY r.class) FROM {{ marks | table }} AS r)[s.class + 1]
{% else %}
        r.mark
{% endif %}
{% for c in published if c.source == "s" %}
        , {{ hashed("s", c.column, c.as_text, c.kind) }}
{% endfor %}
    ), 0) AS numeric), 0)), 0) AS text) AS mark
FROM {{ classed | table }} AS s
{% if not dense %}
JOIN {{ marks | table }} AS r ON r.class = s.class
{% endif %}
