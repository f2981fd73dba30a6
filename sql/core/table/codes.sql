-- name: table/codes
-- params: work (table), columns (code column names), tie_break (bool), part (table or none),
--   label (its column), span (bool: only label, without part rid, from :first to before :past)
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
{% endif %}
{% if span %}
WHERE {{ "p." ~ label if part else "w.rid" }} >= :first AND {{ "p." ~ label if part else "w.rid" }} < :past
{% endif %}
{% if tie_break %}
ORDER BY w.tie
{% endif %}
