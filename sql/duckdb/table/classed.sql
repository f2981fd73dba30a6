-- name: table/classed
-- params: classed (table to make), stage, work, assign (tables), raw (aliases in the stage), codes (QI code columns), tied (table or
--   none), kept (all; those that have a class: assigned; those of class -1, which have none: omitted), rows (of the stage, numbered from 0)
-- returns: class, rid, the staged originals, the QI codes, link: what recode, verify and publish read, joined once
-- With tied, the rows in it take the class that it gives them.
-- Joined a million rows at a time: so many numbers in a row are found in an array, more of them in a hash table that no cache of a
-- processor holds and that takes several times the memory.
{% set some = 1000000 %}
{% macro between(source, first) %}
{% if rows > some %}(SELECT * FROM {{ source | table }} WHERE rid >= {{ first }} AND rid < {{ first + some }}){% else %}{{ source | table }}{% endif %}
{% endmacro %}
{% set class = "COALESCE(d.class, a.class)" if tied else "a.class" %}
CREATE {{ classed | scratch }} AS
{% for first in range(0, rows if rows > 0 else 1, some) %}
{{ "UNION ALL" if not loop.first }}
SELECT
    {{ class }} AS class
    , s.rid AS rid
{% for column in raw %}
    , s.{{ column }} AS {{ column }}
{% endfor %}
{% for column in codes %}
    , w.{{ column }} AS {{ column }}
{% endfor %}
    , s.link AS link
FROM {{ between(assign, first) }} AS a
JOIN {{ between(stage, first) }} AS s ON s.rid = a.rid
{% if codes %}
JOIN {{ between(work, first) }} AS w ON w.rid = a.rid
{% endif %}
{% if tied %}
LEFT JOIN {{ between(tied, first) }} AS d ON d.rid = a.rid
{% endif %}
{% if kept != "all" %}
WHERE {{ class }} {{ ">=" if kept == "assigned" else "<" }} 0
{% endif %}
{% endfor %}
