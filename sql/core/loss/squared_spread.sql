-- name: loss/squared_spread
-- params: domain (table), first (the least code of a value)
-- returns: total double: the squared distances of the rows with a value from their mean
SELECT CAST(COALESCE(SUM(d.n * (d.ord - m.mean) * (d.ord - m.mean)), 0) AS DOUBLE) AS total
FROM {{ domain | table }} AS d
CROSS JOIN (
    SELECT SUM(a.n * a.ord) / SUM(a.n) AS mean
    FROM {{ domain | table }} AS a
    WHERE a.code >= {{ first }}
) AS m
WHERE d.code >= {{ first }}
