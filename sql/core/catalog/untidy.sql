-- name: catalog/untidy
-- params: catalog (table), :erasing (the text of JSON of a report that erases keys), :nothing (of one that erases none)
-- returns: a row a release: how many versions are being made or were given up, may be
--   returned to, are published; the oldest version that may be returned to, the newest
--   that erased keys; and the policy that says how many versions are kept
SELECT
    t.release AS release
    , t.open AS open
    , t.spare AS spare
    , t.published AS published
    , t.oldest AS oldest
    , t.erased AS erased
    , p.policy AS policy
FROM (
    SELECT c.release AS release
        , COUNT(*) FILTER (WHERE c.status NOT IN ('published', 'replaced', 'withdrawn', 'dropped', 'discarded')) AS open
        , COUNT(*) FILTER (WHERE c.status IN ('replaced', 'withdrawn')) AS spare
        , COUNT(*) FILTER (WHERE c.status = 'published') AS published
        , MIN(CASE WHEN c.status IN ('replaced', 'withdrawn') THEN c.version END) AS oldest
        , MAX(CASE WHEN c.report LIKE :erasing AND c.report NOT LIKE :nothing THEN c.version END) AS erased
        , COALESCE(MAX(CASE WHEN c.status = 'published' THEN c.version END), MAX(c.version)) AS said
    FROM {{ catalog | table }} AS c
    GROUP BY c.release
) AS t
JOIN {{ catalog | table }} AS p ON p.release = t.release AND p.version = t.said
ORDER BY t.release
