-- name: statistics/contributions
-- params: contributions (table to make), rows (table, as statistics/rows makes it), sum
--   ({place, low, high (of a row, in units)})
-- returns: atom bigint, person bigint, above, below, size bigint: of each person in each atom the distance
--   of the sum of all rows to the least and to the greatest that they could have, and its absolute value
CREATE {{ contributions | scratch }} AS
SELECT
    g.atom AS atom
    , g.person AS person
    , g.x - ({{ sum.low }}) * g.k AS above
    , ({{ sum.high }}) * g.k - g.x AS below
    , ABS(g.x) AS size
FROM (
    SELECT r.atom AS atom, r.person AS person, CAST(SUM(r.s{{ sum.place }}) AS BIGINT) AS x, COUNT(*) AS k
    FROM {{ rows | table }} AS r
    GROUP BY r.atom, r.person
) AS g
