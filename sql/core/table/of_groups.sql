-- name: table/of_groups
-- params: rows (table to make), classed (table), groups ({table, key, group}), columns (aliases)
-- returns: place bigint (the group of each row: classes that publish the same are one), and the columns
CREATE {{ rows | scratch }} AS
SELECT CAST(g.{{ groups.group }} AS BIGINT) AS place{% for name in columns %}, s.{{ name }} AS {{ name }}{% endfor %}

FROM {{ classed | table }} AS s
JOIN {{ groups.table | table }} AS g ON g.{{ groups.key }} = s.class
