-- name: loss/inside_members
-- params: histogram, members, joint (tables)
-- returns: one double: as loss/inside, of the classes that publish a set
SELECT CAST(COALESCE(SUM(CAST(t.n AS DOUBLE) * LN(CAST(t.inside AS DOUBLE))), 0) AS DOUBLE) AS bits
FROM (
    SELECT v.class AS class, v.value AS value, MAX(v.n) AS n, SUM(j.n) AS inside
    FROM {{ histogram | table }} AS v
    JOIN {{ members | table }} AS m ON m.class = v.class
    JOIN {{ joint | table }} AS j ON j.code = m.code AND j.value = v.value
    GROUP BY v.class, v.value
) AS t
