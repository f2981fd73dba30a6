-- name: verify/population_starred
-- params: groups, people, matched (tables), rows (of the group)
-- returns: grp bigint: the groups of so many rows in which all rows of the population lie
SELECT m.grp AS grp
FROM {{ matched | table }} AS m
JOIN {{ groups | table }} AS g ON g._sqlanon_grp = m.grp
WHERE g._sqlanon_n = {{ rows }}
GROUP BY m.grp
HAVING SUM(m.n) = (SELECT SUM(p.n) FROM {{ people | table }} AS p)
