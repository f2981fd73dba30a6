-- name: statistics/sum_atoms
-- params: atoms, limits (tables), sum ({place})
-- returns: value, n, low, high bigint, in the order of the atoms
SELECT a.s{{ sum.place }} AS value, a.n AS n, l.low AS low, l.high AS high
FROM {{ atoms | table }} AS a
JOIN {{ limits | table }} AS l ON l.atom = a.atom
ORDER BY a.atom
