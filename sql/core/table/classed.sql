-- name: table/classed
-- params: classed (table to make), stage, work, assign (tables), raw (aliases in the stage), codes (QI code columns), tied (table or
--   none), kept (all; those that have a class: assigned; those of class -1, which have none: omitted), rows (of the stage, numbered from 0)
-- returns: class, rid, the staged originals, the QI codes, link: what recode, verify and publish read, joined once
-- With tied, the rows in it take the class that it gives them.
CREATE {{ classed | scratch }} AS
SELECT
    {% if tied %}COALESCE(d.class, a.class){% else %}a.class{% endif %} AS class
    , s.rid AS rid
{% for column in raw %}
    , s.{{ column }} AS {{ column }}
{% endfor %}
{% for column in codes %}
    , w.{{ column }} AS {{ column }}
{% endfor %}
    , s.link AS link
FROM {{ assign | table }} AS a
JOIN {{ stage | table }} AS s ON s.rid = a.rid
{% if codes %}
JOIN {{ work | table }} AS w ON w.rid = a.rid
{% endif %}
{% if tied %}
LEFT JOIN {{ tied | table }} AS d ON d.rid = a.rid
{% endif %}
{% if kept != "all" %}
WHERE {% if tied %}COALESCE(d.class, a.class){% else %}a.class{% endif %} {{ ">=" if kept == "assigned" else "<" }} 0
{% endif %}
