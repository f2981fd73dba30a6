-- name: catalog/live
-- params: catalog (table), columns (list of {name, known}: what is read; a column that a catalog of an older
--   sqlanon lacks is NULL), :release, :own_boxes (the text of JSON of a policy with boxes of their own),
--   :erasing (of a report that erases keys), :nothing (of one that erases none), :lineage (of one on a lineage)
-- returns: of a release the versions that have tables or are being made, the newest of
--   each status, the newest of a lineage that readers had, those with boxes of their own,
--   and those that erased keys after one which has tables; newest last
SELECT
{% for c in columns %}
    {{ "" if loop.first else ", " }}{{ "c." ~ (c.name | ident) if c.known
        else "CAST(NULL AS TEXT)" }} AS {{ c.name | ident }}
{% endfor %}
FROM {{ catalog | table }} AS c
WHERE c.release = :release AND (
    c.status NOT IN ('dropped', 'discarded')
    OR c.version IN (SELECT MAX(n.version) FROM {{ catalog | table }} AS n WHERE n.release = :release GROUP BY n.status)
    OR c.version IN (
        SELECT MAX(f.version) FROM {{ catalog | table }} AS f
        WHERE f.release = :release
            AND f.status IN ('published', 'withdrawn', 'replaced', 'dropped')
            AND f.report LIKE :lineage
    )
    OR c.policy LIKE :own_boxes
    OR (
        c.version > (
            SELECT MIN(o.version)
            FROM {{ catalog | table }} AS o
            WHERE o.release = :release AND o.status IN ('replaced', 'withdrawn')
        )
        AND c.report LIKE :erasing AND c.report NOT LIKE :nothing
    )
)
ORDER BY c.release, c.version
