-- name: frozen/history
-- params: history (table to make), rows (the lineage's), at (a version), sensitive (numbers of the sensitive
--   columns: 1, 2, ..), persons (aliases of the person's hash: one or none), classes (the lineage's, or
--   none: exit groups are classes of their own), parts (names of what is published of a class)
-- returns: what history/rows makes, its classes as readers see them (those that publish the same are one), of the
--   rows that a version of the lineage publishes, but for classes of which nothing is kept, as they were erased
CREATE {{ history | scratch }} AS
SELECT
    l._sqlanon_key AS person
    , {{ "COALESCE(c.shown, l._sqlanon_class)" if classes else "l._sqlanon_class" }} AS class
    , l._sqlanon_mark AS mark
{% for i in sensitive %}
    , l._sqlanon_s{{ i }} AS s{{ i }}
{% endfor %}
{% for c in persons %}
    , l._sqlanon_owner AS {{ c }}
{% endfor %}
FROM {{ rows | table }} AS l
{% if classes %}
LEFT JOIN (
    SELECT
        k._sqlanon_class AS class
        , MIN(k._sqlanon_class) OVER (
            PARTITION BY
{% for name in parts %}
                {{ ", " if not loop.first }}CAST(k.{{ name | ident }} AS VARCHAR)
{% endfor %}
        ) AS shown
    FROM {{ classes | table }} AS k
) AS c ON c.class = l._sqlanon_class
{% endif %}
WHERE l._sqlanon_since <= {{ at }} AND (l._sqlanon_gone IS NULL OR l._sqlanon_gone > {{ at }})
    AND l._sqlanon_mark IS NOT NULL
