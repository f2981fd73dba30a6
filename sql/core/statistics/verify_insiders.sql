-- name: statistics/verify_insiders
-- params: ends, compared, least, insiders, own, witness (tables), threshold, sums (list of {place})
-- returns: failing bigint: pairs of a small cell and an insider whom no witness that
--   leaves his atoms as they are shows the least, or the threshold
SELECT COUNT(*) AS failing
FROM (
    SELECT
        q.cell AS cell
        , q.owner AS owner
        , MAX(CASE WHEN x.owner IS NULL AND q.value + e.change <= q.least + q.excess THEN 1 ELSE 0 END) AS low
        , MAX(CASE WHEN x.owner IS NULL AND q.value + e.change >= {{ threshold }} + q.excess THEN 1 ELSE 0 END) AS high
    FROM (
        SELECT c.cell AS cell, c.value AS value, l.least AS least, o.owner AS owner, COALESCE(p.excess, 0) AS excess
        FROM {{ compared | table }} AS c
        JOIN {{ least | table }} AS l ON l.cell = c.cell
        CROSS JOIN (SELECT DISTINCT s.owner AS owner FROM {{ insiders | table }} AS s) AS o
        LEFT JOIN {{ own | table }} AS p ON p.cell = c.cell AND p.owner = o.owner
        WHERE c.small = 1
    ) AS q
    JOIN {{ ends | table }} AS e ON e.cell = q.cell
    LEFT JOIN (
        SELECT DISTINCT w.witness AS witness, s.owner AS owner
        FROM {{ witness | table }} AS w
        JOIN {{ insiders | table }} AS s ON s.atom = w.atom
        WHERE w.change <> 0{% for s in sums %} OR w.s{{ s.place }} <> 0{% endfor %}

    ) AS x ON x.witness = e.witness AND x.owner = q.owner
    WHERE q.excess >= 0
    GROUP BY q.cell, q.owner
) AS g
WHERE g.low = 0 OR g.high = 0
