-- name: table/classed
-- params: classed (table to make), stage, work, assign (tables), raw (aliases in the stage), codes (QI code
--   columns), tied (table or none), kept (all; those that have a class: assigned; those of class -1, which
--   have none: omitted), rows (of the stage, numbered from 0), block (so many rows are joined at a time; 0:
--   all), listed (bool: assign is one row, the classes of all rows in the order of rid), link (alias of
--   each column that it is the hash of, and whether that is a listed text; none: the column link), in_order
--   (bool: the rows are written in the order of their classes)
-- returns: class, rid, the staged originals, the QI codes, link where the stage has it:
--   what recode, verify and publish read, joined once
-- With tied, the rows in it take the class that it gives them.
-- Numbers in a row that are not too many are found in an array, more of them in a hash table
-- that no cache of a processor holds and that takes several times the memory. Listed classes
-- are an array by themselves; the empty one beside it makes PostgreSQL read it once.
{% macro between(source, first) %}
{% if block and rows > block %}
(SELECT * FROM {{ source | table }} WHERE rid >= {{ first }} AND rid < {{ first + block }})
{% else %}
{{ source | table }}
{% endif %}
{% endmacro %}
{% if listed %}
{% set given = "(SELECT a.classes || CAST([] AS INTEGER[]) FROM %s AS a)[s.rid + 1]" % (assign | table) %}
{% else %}
{% set given = "a.class" %}
{% endif %}
{% set class = "COALESCE(d.class, %s)" % given if tied else given %}
CREATE {{ classed | scratch }} AS
{% for first in range(0, rows if rows > 0 else 1, block or rows or 1) %}
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
{% if not link %}
    , s.link AS link
{% endif %}
{% if listed %}
FROM {{ stage | table }} AS s
{% else %}
FROM {{ between(assign, first) }} AS a
JOIN {{ between(stage, first) }} AS s ON s.rid = a.rid
{% endif %}
{% if codes %}
JOIN {{ between(work, first) }} AS w ON w.rid = s.rid
{% endif %}
{% if tied %}
LEFT JOIN {{ between(tied, first) }} AS d ON d.rid = s.rid
{% endif %}
{% if kept != "all" %}
WHERE {{ class }} {{ ">=" if kept == "assigned" else "<" }} 0
{% endif %}
{% endfor %}
{% if in_order %}
ORDER BY class
{% endif %}
