-- name: statistics/verify_contributors
-- params: contributors, limits, witness (tables), place (of the sum)
-- returns: failing bigint: contributors for whom no witness has more in all of their atoms, or none less, with no other change than agrees with what
--   each other contributor knows
WITH v AS (
    SELECT w.witness AS witness, SUM(CASE WHEN w.s{{ place }} < COALESCE(l.low, 0) OR w.s{{ place }} > COALESCE(l.high, 0) THEN 1 ELSE 0 END) AS outside
    FROM {{ witness | table }} AS w
    LEFT JOIN {{ limits | table }} AS l ON l.atom = w.atom
    GROUP BY w.witness
    UNION ALL
    SELECT CAST(-1 AS BIGINT) AS witness, 0 AS outside
)
, p AS (
    SELECT
        c.person AS person
        , v.witness AS witness
        , v.outside AS outside
        , SUM(CASE WHEN COALESCE(w.s{{ place }}, 0) < c.more_low OR COALESCE(w.s{{ place }}, 0) > c.more_high THEN 1 ELSE 0 END) AS not_more
        , SUM(CASE WHEN COALESCE(w.s{{ place }}, 0) < c.less_low OR COALESCE(w.s{{ place }}, 0) > c.less_high THEN 1 ELSE 0 END) AS not_less
        , SUM(CASE WHEN w.s{{ place }} < l.low OR w.s{{ place }} > l.high THEN 1 ELSE 0 END) AS own
    FROM {{ contributors | table }} AS c
    JOIN {{ limits | table }} AS l ON l.atom = c.atom
    CROSS JOIN v
    LEFT JOIN {{ witness | table }} AS w ON w.witness = v.witness AND w.atom = c.atom
    GROUP BY c.person, v.witness, v.outside
)
, g AS (
    SELECT
        p.person AS person
        , MAX(CASE WHEN p.not_more = 0 AND p.own = p.outside THEN 1 ELSE 0 END) AS more
        , MAX(CASE WHEN p.not_less = 0 AND p.own = p.outside THEN 1 ELSE 0 END) AS less
    FROM p
    GROUP BY p.person
)
SELECT COUNT(*) AS failing FROM g WHERE g.more = 0 OR g.less = 0
