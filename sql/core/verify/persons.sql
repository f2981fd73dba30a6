-- name: verify/persons
-- params: rows (table to make), classed, numbers (tables), columns (aliases in the stage)
-- returns: number (of what is published for the row), one column per alias: the rows of
--   the run in the groups that a reader sees
CREATE {{ rows | scratch }} AS
SELECT m.number AS number{% for name in columns %}, s.{{ name }} AS {{ name }}{% endfor %}

FROM {{ classed | table }} AS s
JOIN {{ numbers | table }} AS m ON m.class = s.class
