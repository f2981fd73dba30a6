-- name: catalog/beside
-- params: catalog (table), columns (list of {name, known}: what is read; a column that a catalog of an older
--   sqlanon lacks is NULL), :release, :source, schema (whether it is bound), views (names of what is bound)
-- returns: the published versions of other releases which have the same source, or one of these views
SELECT
{% for c in columns %}
    {{ "" if loop.first else ", " }}{{ "c." ~ (c.name | ident) if c.known
        else "CAST(NULL AS TEXT)" }} AS {{ c.name | ident }}
{% endfor %}
FROM {{ catalog | table }} AS c
WHERE c.status = 'published' AND c.release <> :release AND (
    c.source = :source
    OR (
        c.file IS NULL
{% if schema %}
        AND c.view_schema = :schema
{% endif %}
        AND c.view_name IN ({% for name in views %}{{ "" if loop.first else ", " }}:{{ name }}{% endfor %})
    )
)
ORDER BY c.release, c.version
