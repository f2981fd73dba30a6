-- name: formats/labels_matched
-- params: pairs (table to make), seen (table of _sqlanon_number, value), said (table of
--   _sqlanon_number and the published column), kind (ordered, set or tree), names, type, claims
--   (table of leaf, label; member, label; or low, high, label), ranks (table of value, rank; or none)
-- returns: seen bigint, said bigint: the values that lie in what is published of a column
{% macro end(name) %}CAST(CASE WHEN u.label NOT IN ('*', 'NULL') THEN u.{{ name }} END AS {{ type }}){% endmacro %}
CREATE {{ pairs | scratch }} AS
SELECT v._sqlanon_number AS seen, r._sqlanon_number AS said
FROM {{ seen | table }} AS v
{% if kind == "set" %}
JOIN {{ claims | table }} AS u ON u.member = v.value
JOIN {{ said | table }} AS r ON r.{{ names.value | ident }} = u.label
WHERE u.label NOT IN ('*', 'NULL')
{% elif kind == "tree" %}
JOIN {{ claims | table }} AS u ON CAST(u.leaf AS {{ type }}) = v.value
JOIN {{ said | table }} AS r ON r.{{ names.value | ident }} = u.label
WHERE u.label NOT IN ('*', 'NULL')
{% elif ranks %}
JOIN {{ ranks | table }} AS k ON k.value = v.value
CROSS JOIN {{ claims | table }} AS u
JOIN {{ ranks | table }} AS l ON l.value = u.low
JOIN {{ ranks | table }} AS h ON h.value = u.high
JOIN {{ said | table }} AS r ON r.{{ names.value | ident }} = u.label
WHERE k.rank >= l.rank AND k.rank <= h.rank AND u.label NOT IN ('*', 'NULL')
{% else %}
JOIN {{ claims | table }} AS u ON {{ end("low") }} = v.value
JOIN {{ said | table }} AS r ON r.{{ names.value | ident }} = u.label
WHERE u.low = u.high
UNION ALL
SELECT v._sqlanon_number AS seen, r._sqlanon_number AS said
FROM {{ seen | table }} AS v
JOIN {{ claims | table }} AS u ON v.value >= {{ end("low") }} AND v.value <= {{ end("high") }}
JOIN {{ said | table }} AS r ON r.{{ names.value | ident }} = u.label
WHERE u.low <> u.high
{% endif %}
UNION ALL
SELECT v._sqlanon_number AS seen, r._sqlanon_number AS said
FROM {{ seen | table }} AS v
CROSS JOIN {{ said | table }} AS r
WHERE r.{{ names.value | ident }} = '*' OR (r.{{ names.value | ident }} = 'NULL' AND v.value IS NULL)
