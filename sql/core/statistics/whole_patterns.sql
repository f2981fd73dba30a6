-- name: statistics/whole_patterns
-- params: wholes (table to make), patterns, atoms (tables of parts)
-- returns: pattern bigint, atom bigint (number of a finest combination), times bigint,
--   persons bigint: the rows of patterns in all parts of it
CREATE {{ wholes | scratch }} AS
SELECT q.pattern AS pattern, a.whole AS atom, CAST(SUM(q.times) AS BIGINT) AS times, MAX(q.persons) AS persons
FROM {{ patterns | table }} AS q
JOIN {{ atoms | table }} AS a ON a.atom = q.atom
GROUP BY q.pattern, a.whole
