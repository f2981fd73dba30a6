-- name: frozen/differing
-- params: made (table to make), rows (the lineage's), before, version (versions of it),
--   came (bool), kept (list of {alias, name})
-- returns: class, the columns that are published as they are, by alias: the rows of the
--   version that the one before does not have, or those that it has alone
CREATE {{ made | scratch }} AS
SELECT
    l._sqlanon_class AS class
{% for c in kept %}
    , l.{{ c.name | ident }} AS {{ c.alias }}
{% endfor %}
FROM {{ rows | table }} AS l
WHERE
{% if came %}
    l._sqlanon_since > {{ before }}
        AND l._sqlanon_since <= {{ version }}
        AND (l._sqlanon_gone IS NULL OR l._sqlanon_gone > {{ version }})
{% else %}
    l._sqlanon_since <= {{ before }} AND l._sqlanon_gone > {{ before }} AND l._sqlanon_gone <= {{ version }}
{% endif %}
