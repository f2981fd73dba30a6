-- name: frozen/since
-- params: made (table to make), rows (the lineage's), version, kept (list of {alias, name})
-- returns: class, the columns that are published as they are, by alias: the rows that are new in the version
CREATE {{ made | scratch }} AS
SELECT
    l._sqlanon_class AS class
{% for c in kept %}
    , l.{{ c.name | ident }} AS {{ c.alias }}
{% endfor %}
FROM {{ rows | table }} AS l
WHERE l._sqlanon_since = {{ version }}
