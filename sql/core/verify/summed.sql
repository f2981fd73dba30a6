-- name: verify/summed
-- params: sums (table of verify/class_sums), marks (table)
-- returns: n bigint, mark text: the fingerprint that the staged rows must leave in the
--   table, by mark (verify/written says how)
SELECT
    CAST(COALESCE(SUM(w.n), 0) AS BIGINT) AS n
    , CAST(
        COALESCE(SUM(CAST(HASH(w.mark, w.n, CAST(w.total AS {{ dialect.text }})) AS HUGEINT)), 0) AS {{ dialect.text }}
    ) AS mark
FROM (
    SELECT m.mark AS mark, CAST(SUM(s.n) AS BIGINT) AS n, SUM(s.kept) AS total
    FROM {{ sums | table }} AS s
    JOIN {{ marks | table }} AS m ON m.class = s.class
    GROUP BY m.mark
) AS w
