-- name: loss/members
-- params: members (table to make), regions, classed (tables), column (code column)
-- returns: class, code: the set that a class publishes, where regions have no interval of
--   it: its own values (first_ is NULL), or those of all classes (first_ is -1)
CREATE {{ members | scratch }} AS
SELECT s.class AS class, s.{{ column }} AS code
FROM {{ classed | table }} AS s
JOIN {{ regions | table }} AS g ON g.class = s.class
WHERE g.first_{{ column }} IS NULL
GROUP BY s.class, s.{{ column }}
UNION ALL
SELECT g.class AS class, a.code AS code
FROM {{ regions | table }} AS g
CROSS JOIN (SELECT DISTINCT s.{{ column }} AS code FROM {{ classed | table }} AS s) AS a
WHERE g.first_{{ column }} = -1
