-- name: statistics/verify_sum_cells
-- params: needs, limits, moved, witness, compared (tables), place (of the sum)
-- returns: shown bigint (cells that a rule of the sum forbids to show), failing bigint
--   (cells whose sum no witness takes as far up, or down, as they demand, with no other
--   change than agrees with what those outside of the cell contribute)
WITH v AS (
    SELECT
        w.witness AS witness
        , SUM(
            CASE WHEN w.s{{ place }} < COALESCE(l.low, 0) OR w.s{{ place }} > COALESCE(l.high, 0) THEN 1 ELSE 0 END
        ) AS outside
    FROM {{ witness | table }} AS w
    LEFT JOIN {{ limits | table }} AS l ON l.atom = w.atom
    GROUP BY w.witness
)
, e AS (
    SELECT m.cell AS cell, m.s{{ place }} AS change
    FROM {{ moved | table }} AS m
    JOIN v ON v.witness = m.witness AND v.outside = m.outside{{ place }}
)
, g AS (
    SELECT
        q.cell AS cell
        , MAX(CASE WHEN q.up <= 0 OR e.change >= q.up THEN 1 ELSE 0 END) AS more
        , MAX(CASE WHEN q.down <= 0 OR e.change <= -q.down THEN 1 ELSE 0 END) AS less
    FROM {{ needs | table }} AS q
    LEFT JOIN e ON e.cell = q.cell
    GROUP BY q.cell
)
SELECT
    (
        SELECT COUNT(*)
        FROM {{ needs | table }} AS s
        JOIN {{ compared | table }} AS c ON c.cell = s.cell
        WHERE s.sensitive = 1 AND c.hidden = 0
    ) AS shown
    , (SELECT COUNT(*) FROM g WHERE g.more = 0 OR g.less = 0) AS failing
