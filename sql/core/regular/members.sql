-- name: regular/members
-- params: cell (table), domain (table of code, value), value (published column), claims (table
--   of label and member: the values that a text means; or none: value is an array), member
--   (its column), type (that texts are cast to), contains (how the engine asks an array)
-- returns: cell, code integer: the values of the source that a cell has
SELECT r._sqlanon_class AS cell, d.code AS code
FROM {{ cell | table }} AS r
{% if claims %}
JOIN {{ claims | table }} AS o ON o.label = r.{{ value | ident }}
JOIN {{ domain | table }} AS d ON d.value = CAST(o.{{ member }} AS {{ type }})
{% else %}
JOIN {{ domain | table }} AS d ON {{ contains % {"array": "r." ~ (value | ident), "value": "d.value"} }}
{% endif %}
WHERE d.value IS NOT NULL
