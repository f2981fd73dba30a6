-- name: catalog/list
-- params: catalog (table), columns (list of {name, known}: what is read; a column that a catalog of an
--   older sqlanon lacks is NULL), release (whether it is bound), statuses (names of what is bound),
--   versions (the same), source (whether it is bound), schema (the same), views (names of what is bound)
-- returns: the columns of the versions that the conditions name, newest last; without conditions of all versions
SELECT
{% for c in columns %}
    {{ "" if loop.first else ", " }}{{ "c." ~ (c.name | ident) if c.known
        else "CAST(NULL AS TEXT)" }} AS {{ c.name | ident }}
{% endfor %}
FROM {{ catalog | table }} AS c
WHERE c.version IS NOT NULL
{% if release %}
    AND c.release = :release
{% endif %}
{% if statuses %}
    AND c.status IN ({% for name in statuses %}{{ "" if loop.first else ", " }}:{{ name }}{% endfor %})
{% endif %}
{% if versions %}
    AND c.version IN ({% for name in versions %}{{ "" if loop.first else ", " }}:{{ name }}{% endfor %})
{% endif %}
{% if source %}
    AND c.source = :source
{% endif %}
{% if schema %}
    AND c.view_schema = :schema
{% endif %}
{% if views %}
    AND c.file IS NULL AND c.view_name IN (
        {% for name in views %}{{ "" if loop.first else ", " }}:{{ name }}{% endfor %}
    )
{% endif %}
ORDER BY c.release, c.version
