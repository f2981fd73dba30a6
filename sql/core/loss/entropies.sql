-- name: loss/entropies
-- params: histogram (table), groups ({table, key, group})
-- returns: one row of doubles over groups: their number, the sum of the entropies of their
--   values, and of rows x entropy (natural)
SELECT
    CAST(COUNT(*) AS DOUBLE) AS classes
    , CAST(COALESCE(SUM(LN(g.n) - g.logarithms / g.n), 0) AS DOUBLE) AS entropies
    , CAST(COALESCE(SUM(g.n * LN(g.n) - g.logarithms), 0) AS DOUBLE) AS entropies_of_rows
FROM (
    SELECT SUM(v.n) AS n, SUM(v.n * LN(v.n)) AS logarithms
    FROM (
        SELECT r.{{ groups.group }} AS place, CAST(SUM(h.n) AS DOUBLE) AS n
        FROM {{ histogram | table }} AS h
        JOIN {{ groups.table | table }} AS r ON r.{{ groups.key }} = h.class
        GROUP BY r.{{ groups.group }}, h.value
    ) AS v
    GROUP BY v.place
) AS g
