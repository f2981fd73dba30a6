-- name: frozen/faults
-- params: rows, classes (the lineage's tables), version
-- returns: rows without a class of their own version; classes of which a part has left;
--   refused rows that are published; classes that are there twice; rows that came or went
--   later: all are 0 in a lineage that was kept as it should be
SELECT
    COALESCE(SUM(CASE WHEN t.class IS NOT NULL AND t.own IS NULL THEN t.n ELSE 0 END), 0) AS mixed
    , COUNT(DISTINCT CASE WHEN t.class IS NOT NULL AND t.earliest <> t.latest THEN t.class END) AS parted
    , COALESCE(SUM(CASE WHEN t.class IS NOT NULL THEN t.refused ELSE 0 END), 0) AS refused
    , (SELECT COUNT(*) - COUNT(DISTINCT c._sqlanon_class) FROM {{ classes | table }} AS c) AS repeated
    , COALESCE(SUM(t.later), 0) AS later
FROM (
    SELECT
        g.class AS class
        , g.n AS n
        , g.earliest AS earliest
        , g.latest AS latest
        , g.refused AS refused
        , g.later AS later
        , k._sqlanon_class AS own
    FROM (
        SELECT
            l._sqlanon_class AS class
            , l._sqlanon_since AS since
            , COUNT(*) AS n
            , MIN(COALESCE(l._sqlanon_gone, 0)) AS earliest
            , MAX(COALESCE(l._sqlanon_gone, 0)) AS latest
            , COUNT(l._sqlanon_refused) AS refused
            , SUM(
                CASE WHEN l._sqlanon_since > {{ version }} OR l._sqlanon_gone > {{ version }} THEN 1 ELSE 0 END
            ) AS later
        FROM {{ rows | table }} AS l
        GROUP BY l._sqlanon_class, l._sqlanon_since
    ) AS g
    LEFT JOIN (SELECT DISTINCT c._sqlanon_class, c._sqlanon_since FROM {{ classes | table }} AS c) AS k
        ON k._sqlanon_class = g.class AND k._sqlanon_since = g.since
) AS t
