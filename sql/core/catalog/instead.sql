-- name: catalog/instead
-- params: catalog (table), columns (list of {name, known}: what is read; a column that a
--   catalog of an older sqlanon lacks is NULL), :source
-- returns: of each place that releases of a source had, the version that readers had there last
SELECT
{% for c in columns %}
    {{ "" if loop.first else ", " }}{{ "c." ~ (c.name | ident) if c.known
        else "CAST(NULL AS TEXT)" }} AS {{ c.name | ident }}
{% endfor %}
FROM {{ catalog | table }} AS c
JOIN (
    SELECT
        o.view_schema AS view_schema
        , o.view_name AS view_name
        , COALESCE(o.file, '') AS file
        , MAX(o.published_at) AS published_at
    FROM {{ catalog | table }} AS o
    WHERE o.source = :source AND o.status IN ('published', 'withdrawn', 'replaced', 'dropped')
    GROUP BY o.view_schema, o.view_name, COALESCE(o.file, '')
) AS n ON n.view_schema = c.view_schema
    AND n.view_name = c.view_name
    AND n.file = COALESCE(c.file, '')
    AND n.published_at = c.published_at
WHERE c.source = :source AND c.status IN ('published', 'withdrawn', 'replaced', 'dropped')
ORDER BY c.release, c.version
