-- name: publish/table
-- params: physical (table to make), classed, released (tables), published (list of {source (r or s), column, name})
-- returns: the released rows, ordered by all their columns, so that their order says nothing of the source's
-- Sorting wide rows is dear: the few kept columns are sorted with the class's place, then the class's columns are joined on;
-- the probe side of a hash join keeps its order, and what could change it is not the source's order in any case.
CREATE TABLE {{ physical | table }} AS
WITH sorted AS MATERIALIZED (
    SELECT r._sqlanon_class AS class{% for c in published if c.source == "s" %}, s.{{ c.column | ident }} AS {{ c.column | ident }}{% endfor %}

    FROM {{ classed | table }} AS s
    JOIN (SELECT q._sqlanon_class AS _sqlanon_class, q._sqlanon_place AS _sqlanon_place FROM {{ released | table }} AS q) AS r ON r._sqlanon_class = s.class
    ORDER BY r._sqlanon_place{% for c in published if c.source == "s" %}, s.{{ c.column | ident }} NULLS FIRST{% endfor %}

)
SELECT {% for c in published %}{{ ", " if not loop.first }}{{ "o" if c.source == "s" else "r" }}.{{ c.column | ident }} AS {{ c.name | ident }}{% endfor %}

FROM sorted AS o
JOIN {{ released | table }} AS r ON r._sqlanon_class = o.class
