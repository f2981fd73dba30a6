-- name: table/classed
-- params: classed (table to make), stage, work, assign (tables), raw (aliases in the stage), codes (QI code columns)
-- returns: class, rid, the staged originals, the QI codes, link: what recode, verify and publish read, joined once
CREATE TEMPORARY TABLE {{ classed | table }} AS
SELECT
    a.class AS class
    , a.rid AS rid
{% for column in raw %}
    , s.{{ column }} AS {{ column }}
{% endfor %}
{% for column in codes %}
    , w.{{ column }} AS {{ column }}
{% endfor %}
    , s.link AS link
FROM {{ assign | table }} AS a
JOIN {{ stage | table }} AS s ON s.rid = a.rid
JOIN {{ work | table }} AS w ON w.rid = a.rid
