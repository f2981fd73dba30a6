-- name: statistics/sum_atoms
-- params: atoms, limits (tables), sum ({place})
-- returns: value, n, low, high bigint, in the order of the atoms; nobody contributes to one without rows
SELECT a.s{{ sum.place }} AS value, a.n AS n, COALESCE(l.low, 0) AS low, COALESCE(l.high, 0) AS high
FROM {{ atoms | table }} AS a
LEFT JOIN {{ limits | table }} AS l ON l.atom = a.atom
ORDER BY a.atom
