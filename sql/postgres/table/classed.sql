-- name: table/classed
-- params: classed (table to make), stage, work, assign (tables), raw (aliases in the stage), codes (QI code columns), tied (table or
--   none), kept (all; those that have a class: assigned; those of class -1, which have none: omitted), rows (of the stage, numbered from 0)
-- returns: class, rid, the staged originals, the QI codes, link: what recode, verify and publish read, joined once
-- With tied, the rows in it take the class that it gives them.
-- Where every row has one class, the classes are an array in the order of the rows: a join would look each row up in a table that no
-- cache of a processor holds. Where some row has none or several, the join finds what there is of them, and verify refuses it.
{% set in_array = rows <= 16777216 %}
{% macro rows_of(class, source) %}
SELECT
    {% if tied %}COALESCE(d.class, {{ class }}){% else %}{{ class }}{% endif %} AS class
    , s.rid AS rid
{% for column in raw %}
    , s.{{ column }} AS {{ column }}
{% endfor %}
{% for column in codes %}
    , w.{{ column }} AS {{ column }}
{% endfor %}
    , s.link AS link
FROM {{ source }}
{% if codes %}
JOIN {{ work | table }} AS w ON w.rid = s.rid
{% endif %}
{% if tied %}
LEFT JOIN {{ tied | table }} AS d ON d.rid = s.rid
{% endif %}
WHERE {% if kept == "all" %}TRUE{% else %}{% if tied %}COALESCE(d.class, {{ class }}){% else %}{{ class }}{% endif %} {{ ">=" if kept == "assigned" else "<" }} 0{% endif %}

{% endmacro %}
{% set joined = (assign | table) ~ " AS a JOIN " ~ (stage | table) ~ " AS s ON s.rid = a.rid" %}
CREATE {{ classed | scratch }} AS
{% if in_array %}
WITH given AS MATERIALIZED (
    SELECT CASE WHEN COUNT(b.class) = {{ rows }} AND COUNT(*) = {{ rows }} AND COUNT(DISTINCT b.rid) = {{ rows }} AND MIN(b.rid) = 0
            AND MAX(b.rid) = {{ rows - 1 }} THEN array_agg(b.class ORDER BY b.rid) END AS classes
    FROM {{ assign | table }} AS b
)
{{ rows_of("(SELECT g.classes FROM given AS g)[s.rid + 1]", (stage | table) ~ " AS s") }}
    AND (SELECT g.classes FROM given AS g) IS NOT NULL
UNION ALL
{{ rows_of("a.class", joined) }}
    AND (SELECT g.classes FROM given AS g) IS NULL
{% else %}
{{ rows_of("a.class", joined) }}
{% endif %}
