-- name: report/labels
-- params: bins, domain (tables), bin (fine or coarse)
-- returns: bin integer, values bigint (how many it has), low, high (the first and the last
--   value of it, in the order of codes)
SELECT g.bin AS bin, g.many AS many, a.value AS low, b.value AS high
FROM (
    SELECT t.{{ bin }} AS bin, COUNT(*) AS many, MIN(t.code) AS first, MAX(t.code) AS last
    FROM {{ bins | table }} AS t
    GROUP BY t.{{ bin }}
) AS g
JOIN {{ domain | table }} AS a ON a.code = g.first
JOIN {{ domain | table }} AS b ON b.code = g.last
ORDER BY g.bin
