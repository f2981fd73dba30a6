-- name: statistics/verify_chances
-- params: chances, noise (tables), last (the last number of the chances), turning (the
--   first that is repeated), deviation, variance (number, or none), no_result
-- returns: broken bigint (numbers whose ranges of keys do not cover all keys once), unlike bigint (cells whose
--   change is not that of their number and key), large bigint (changes above the deviation, below no rows, or to
--   numbers that are never published), uneven bigint (numbers whose noise has not the mean 0 and the variance)
SELECT
    (
        SELECT COUNT(*)
        FROM (
            SELECT
                t.number AS number
                , t.first AS first
                , LAG(t.until, 1, CAST(0 AS BIGINT)) OVER (PARTITION BY t.number ORDER BY t.first) AS before
            FROM {{ chances | table }} AS t
        ) AS b
        WHERE b.first <> b.before
    ) + (
        SELECT COUNT(*)
        FROM (SELECT u.number AS number, MAX(u.until) AS until FROM {{ chances | table }} AS u GROUP BY u.number) AS e
        WHERE e.until <> 4294967296
    ) AS broken
    , (
        SELECT COUNT(*)
        FROM {{ noise | table }} AS n
        LEFT JOIN {{ chances | table }} AS w
            ON w.number = CASE
                WHEN n.value <= {{ last }} THEN n.value
                ELSE {{ turning }} + MOD(n.value - {{ turning }}, {{ last - turning + 1 }})
            END
            AND n.key >= w.first AND n.key < w.until AND n.change = w.change
        WHERE w.number IS NULL
    ) AS unlike
    , (
        SELECT COUNT(*)
        FROM {{ chances | table }} AS v
        WHERE v.until > v.first
            AND (
                ABS(v.change) > {{ deviation }}
                OR v.number + v.change < 0
                OR v.number + v.change BETWEEN 1 AND {{ no_result }}
            )
    ) AS large
    , {% if variance is none %}0{% else %}(
        SELECT COUNT(*)
        FROM (
            SELECT
                SUM(CAST(m.until - m.first AS DOUBLE) * m.change) / 4294967296 AS mean
                , SUM(CAST(m.until - m.first AS DOUBLE) * m.change * m.change) / 4294967296 AS spread
            FROM {{ chances | table }} AS m
            GROUP BY m.number
        ) AS f
        WHERE ABS(f.mean) > 0.000001 OR ABS(f.spread - {{ variance }}) > 0.0001
    ){% endif %} AS uneven
