-- name: regular/ends
-- params: cell (table), domain (table of code, value), lo, hi (published columns), claims (table of low, high, label;
--   or none: lo and hi are values), type (that texts are cast to), as_text (bool: values are compared as text)
-- returns: cell, low, high integer: the codes of both ends; -1 where the source has no such value
{% macro end(name) %}
{{ "CAST(r.%s AS VARCHAR)" | format(name | ident) if as_text else "r." ~ (name | ident) }}
{% endmacro %}
SELECT
    r._sqlanon_class AS cell
    , CAST(COALESCE(l.code, -1) AS INTEGER) AS low
    , CAST(COALESCE(h.code, -1) AS INTEGER) AS high
FROM {{ cell | table }} AS r
{% if claims %}
LEFT JOIN {{ claims | table }} AS o ON o.label = r.{{ lo | ident }}
LEFT JOIN {{ domain | table }} AS l ON l.value = CAST(o.low AS {{ type }})
LEFT JOIN {{ domain | table }} AS h ON h.value = CAST(o.high AS {{ type }})
{% else %}
LEFT JOIN {{ domain | table }} AS l ON l.value = {{ end(lo) }}
LEFT JOIN {{ domain | table }} AS h ON h.value = {{ end(hi) }}
{% endif %}
ORDER BY r._sqlanon_class
