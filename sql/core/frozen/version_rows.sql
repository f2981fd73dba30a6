-- name: frozen/version_rows
-- params: made (table to make), rows (the lineage's), at (a version), kept (list of {alias, name})
-- returns: class, the columns that are published as they are, by alias: every row that the version publishes
CREATE {{ made | scratch }} AS
SELECT
    l._sqlanon_class AS class
{% for c in kept %}
    , l.{{ c.name | ident }} AS {{ c.alias }}
{% endfor %}
FROM {{ rows | table }} AS l
WHERE l._sqlanon_since <= {{ at }} AND (l._sqlanon_gone IS NULL OR l._sqlanon_gone > {{ at }})
