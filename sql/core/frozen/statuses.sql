-- name: frozen/statuses
-- params: compared (table), leaving (classes)
-- returns: status text, stays (bool: published before and after), n bigint, changed bigint,
--   apart bigint (those of which only quasi columns changed), earliest text (the earliest
--   time since when one waits): all rows, by what the lineage and the source have of them
SELECT
    t.status AS status
    , t.stays AS stays
    , COUNT(*) AS n
    , SUM(CASE WHEN t.changed THEN 1 ELSE 0 END) AS changed
    , SUM(CASE WHEN t.apart AND NOT t.changed THEN 1 ELSE 0 END) AS apart
    , MIN(t.first) AS earliest
FROM (
    SELECT
        c.status AS status
        , c.changed AS changed
        , c.apart AS apart
        , c.first AS first
        , c.class IS NOT NULL AND x.class IS NULL AS stays
    FROM {{ compared | table }} AS c
    LEFT JOIN {{ leaving | table }} AS x ON x.class = c.class
) AS t
GROUP BY t.status, t.stays
