-- name: table/codes
-- params: work (table), columns (code column names), tie_break (bool), part (table or none), label (its column)
--   span (bool: then binds first, past)
-- returns: rid, then one column per code column; with tie_break in the order that relaxed methods cut
SELECT w.rid AS rid
{% for column in columns %}
    , w.{{ column }} AS {{ column }}
{% endfor %}
{% if part %}
    , p.{{ label }} AS part
{% endif %}
FROM {{ work | table }} AS w
{% if part %}
JOIN {{ part | table }} AS p ON p.rid = w.rid
{% if span %}
WHERE p.{{ label }} >= :first AND p.{{ label }} < :past
{% endif %}
{% endif %}
{% if tie_break %}
ORDER BY w.tie
{% endif %}
