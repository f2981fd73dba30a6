-- name: statistics/verify_contributors
-- params: contributors, limits, witness (tables), place (of the sum)
-- returns: failing bigint: contributors for whom no witness has more in all of their atoms,
--   or none less, with no other change than agrees with what each other contributor knows
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
, t AS (
    SELECT
        c.person AS person
        , w.witness AS witness
        , SUM(CASE WHEN w.s{{ place }} < c.more_low OR w.s{{ place }} > c.more_high THEN 1 ELSE 0 END) AS not_more
        , SUM(CASE WHEN w.s{{ place }} < c.less_low OR w.s{{ place }} > c.less_high THEN 1 ELSE 0 END) AS not_less
        , SUM(CASE WHEN w.s{{ place }} < l.low OR w.s{{ place }} > l.high THEN 1 ELSE 0 END) AS own
        , SUM(CASE WHEN c.more_low > 0 OR c.more_high < 0 THEN 1 ELSE 0 END) AS moved_more
        , SUM(CASE WHEN c.less_low > 0 OR c.less_high < 0 THEN 1 ELSE 0 END) AS moved_less
    FROM {{ contributors | table }} AS c
    JOIN {{ limits | table }} AS l ON l.atom = c.atom
    JOIN {{ witness | table }} AS w ON w.atom = c.atom
    GROUP BY c.person, w.witness
)
, d AS (
    SELECT
        c.person AS person
        , SUM(CASE WHEN c.more_low > 0 OR c.more_high < 0 THEN 1 ELSE 0 END) AS needs_more
        , SUM(CASE WHEN c.less_low > 0 OR c.less_high < 0 THEN 1 ELSE 0 END) AS needs_less
    FROM {{ contributors | table }} AS c
    GROUP BY c.person
)
, g AS (
    SELECT
        d.person AS person
        , MAX(CASE
            WHEN d.needs_more = 0 OR (t.not_more = 0 AND t.moved_more = d.needs_more AND t.own = v.outside) THEN 1
            ELSE 0
        END) AS more
        , MAX(CASE
            WHEN d.needs_less = 0 OR (t.not_less = 0 AND t.moved_less = d.needs_less AND t.own = v.outside) THEN 1
            ELSE 0
        END) AS less
    FROM d
    LEFT JOIN t ON t.person = d.person
    LEFT JOIN v ON v.witness = t.witness
    GROUP BY d.person
)
SELECT COUNT(*) AS failing FROM g WHERE g.more = 0 OR g.less = 0
