-- name: formats/ranges_matched
-- params: pairs (table to make), seen (table of _sqlanon_number, value), said (table of _sqlanon_number
--   and the published columns), kind (ordered, set or tree), names, type, claims (table of leaf, label;
--   or none), ranks (table of value, rank; or none), contains (how the engine asks an array)
-- returns: seen bigint, said bigint: the values that lie in what is published of a column
CREATE {{ pairs | scratch }} AS
{% set known = "r." ~ (names.null | ident) ~ (" IN ('none', 'some')" if kind == "ordered"
    else " = 'none'") if names.null else "TRUE" %}
{% if kind == "set" %}
SELECT v._sqlanon_number AS seen, r._sqlanon_number AS said
FROM {{ seen | table }} AS v
JOIN {{ said | table }} AS r ON {{ contains % {"array": "r." ~ (names.value | ident), "value": "v.value"} }}
WHERE {{ known }}
{% elif kind == "tree" %}
SELECT v._sqlanon_number AS seen, r._sqlanon_number AS said
FROM {{ seen | table }} AS v
JOIN {{ claims | table }} AS u ON CAST(u.leaf AS {{ type }}) = v.value
JOIN {{ said | table }} AS r ON r.{{ names.value | ident }} = u.label
WHERE {{ known }}
{% elif ranks %}
SELECT v._sqlanon_number AS seen, r._sqlanon_number AS said
FROM {{ seen | table }} AS v
JOIN {{ ranks | table }} AS k ON k.value = v.value
CROSS JOIN {{ said | table }} AS r
JOIN {{ ranks | table }} AS l ON l.value = r.{{ names.lo | ident }}
JOIN {{ ranks | table }} AS h ON h.value = r.{{ names.hi | ident }}
WHERE k.rank >= l.rank AND k.rank <= h.rank AND {{ known }}
{% else %}
SELECT v._sqlanon_number AS seen, r._sqlanon_number AS said
FROM {{ seen | table }} AS v
JOIN {{ said | table }} AS r ON r.{{ names.lo | ident }} = v.value
WHERE r.{{ names.lo | ident }} = r.{{ names.hi | ident }} AND {{ known }}
UNION ALL
SELECT v._sqlanon_number AS seen, r._sqlanon_number AS said
FROM {{ seen | table }} AS v
JOIN {{ said | table }} AS r ON v.value >= r.{{ names.lo | ident }} AND v.value <= r.{{ names.hi | ident }}
WHERE r.{{ names.lo | ident }} <> r.{{ names.hi | ident }} AND {{ known }}
{% endif %}
{% if names.null %}
UNION ALL
SELECT v._sqlanon_number AS seen, r._sqlanon_number AS said
FROM {{ seen | table }} AS v
CROSS JOIN {{ said | table }} AS r
WHERE (
    r.{{ names.null | ident }} = 'some'
{% if kind == "ordered" %}
    AND ((r.{{ names.lo | ident }} IS NULL AND r.{{ names.hi | ident }} IS NULL) OR v.value IS NULL)
{% endif %}
)
    OR (r.{{ names.null | ident }} = 'all' AND v.value IS NULL)
{% endif %}
