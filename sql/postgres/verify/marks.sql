-- name: verify/marks
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
CREATE {{ marks | scratch }} AS
SELECT
    r._sqlanon_class AS class
    , hash_record_extended(ROW(
{% for name in names %}
        {{ ", " if not loop.first }}{{ hashed("r", name, name in own, kinds[name]) }}
{% endfor %}
    ), 0) AS mark
FROM {{ released | table }} AS r
