-- name: table/codes
-- params: work (table), columns (code column names), tie_break (bool), part (table or none)
-- returns: rid, then one column per code column; with tie_break in the order that relaxed methods cut
SELECT w.rid AS rid
{% for column in columns %}
    , w.{{ column }} AS {{ column }}
{% endfor %}
{% if part %}
    , p.part AS part
{% endif %}
FROM {{ work | table }} AS w
{% if part %}
JOIN {{ part | table }} AS p ON p.rid = w.rid
WHERE p.part >= :first AND p.part < :past
{% endif %}
{% if tie_break %}
ORDER BY w.tie
{% endif %}
