-- name: publish/table
-- params: physical (table to make), classed, released (tables), published (list of {source (r or s), column, name}), dense (bool: the
--   classes are 0, 1, 2, .., each once), repeated (names of published arrays of which the classes have few different ones, where the
--   engine writes them by number)
-- returns: the released rows, in the order of what a reader sees of their class and then of the columns that are published as they are:
--   rows that are equal in both are equal in every column, so that nothing of the source's order is left, whatever the plan
CREATE TABLE {{ physical | table }} AS
SELECT {% for c in published %}{{ ", " if not loop.first }}{{ c.source }}.{{ c.column | ident }} AS {{ c.name | ident }}{% endfor %}

FROM {{ classed | table }} AS s
JOIN {{ released | table }} AS r ON r._sqlanon_class = s.class
ORDER BY r._sqlanon_place{% for c in published if c.source == "s" %}, s.{{ c.column | ident }} NULLS FIRST{% endfor %}

