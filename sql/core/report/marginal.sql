-- name: report/marginal
-- params: cells, released, spread, bins (tables), number (of the column)
-- returns: bin integer (fine), source, release double: rows that are there, and that are expected
SELECT b.fine AS bin
    , CAST(SUM(COALESCE(s.n, 0)) AS DOUBLE) AS source
    , CAST(SUM(COALESCE(r.m, 0)) AS DOUBLE) AS release
FROM {{ bins | table }} AS b
LEFT JOIN (
    SELECT t.c{{ number }} AS code, CAST(SUM(t.n) AS DOUBLE) AS n
    FROM {{ cells | table }} AS t
    GROUP BY t.c{{ number }}
) AS s ON s.code = b.code
LEFT JOIN (
    SELECT w.code AS code, SUM(p.n * w.share) AS m
    FROM (
        SELECT x.p{{ number }} AS part, CAST(SUM(x.n) AS DOUBLE) AS n
        FROM {{ released | table }} AS x
        GROUP BY x.p{{ number }}
    ) AS p
    JOIN {{ spread | table }} AS w ON w.part = p.part
    GROUP BY w.code
) AS r ON r.code = b.code
GROUP BY b.fine
ORDER BY b.fine
