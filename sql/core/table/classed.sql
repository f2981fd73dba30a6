-- name: table/classed
-- params: classed (table to make), work, assign (tables), raw (aliases in the stage), codes (QI code columns)
-- returns: class, rid, the staged originals, the QI codes, link: what recode, verify and publish read, joined once
CREATE TEMPORARY TABLE {{ classed | table }} AS
SELECT
    a.class AS class
    , a.rid AS rid
{% for column in raw %}
    , w.{{ column }} AS {{ column }}
{% endfor %}
{% for column in codes %}
    , w.{{ column }} AS {{ column }}
{% endfor %}
    , w.link AS link
FROM {{ assign | table }} AS a
JOIN {{ work | table }} AS w ON w.rid = a.rid
