-- name: verify/persons
-- params: rows (table to make), classed, marks (tables), columns (aliases in the stage)
-- returns: mark (a hash of what is published for the row), one column per alias: the rows of the run in the groups that a reader sees
CREATE {{ rows | scratch }} AS
SELECT m.mark AS mark{% for name in columns %}, s.{{ name }} AS {{ name }}{% endfor %}

FROM {{ classed | table }} AS s
JOIN {{ marks | table }} AS m ON m.class = s.class
