-- name: publish/table
-- params: physical (table to make), classed, released (tables), published (list of {source (r or s), column, name})
-- returns: the released rows. What is private of a row is sorted before the wide class columns come to it: neither the
--   sort nor what the join makes of it knows the source's order.
CREATE TABLE {{ physical | table }} AS
SELECT {% for c in published %}{{ ", " if not loop.first }}{{ c.source }}.{{ c.column | ident }} AS {{ c.name | ident }}{% endfor %}

FROM (
    SELECT p._sqlanon_class AS _sqlanon_class{% for c in published if c.source == "s" %}, k.{{ c.column | ident }} AS {{ c.column | ident }}{% endfor %}

    FROM {{ classed | table }} AS k
    JOIN {{ released | table }} AS p ON p._sqlanon_class = k.class
    ORDER BY p._sqlanon_place{% for c in published if c.source == "s" %}, k.{{ c.column | ident }} NULLS FIRST{% endfor %}

) AS s
JOIN {{ released | table }} AS r ON r._sqlanon_class = s._sqlanon_class
