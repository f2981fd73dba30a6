-- name: frozen/moved
-- params: moved (table to make), rows (the lineage's), stage (table), leaving (classes that leave, or none), quasi (list of {alias, listed, as_text}), kept (list of {alias, name, as_text})
-- returns: rid, class, the staged columns, changed (bool): rows of the source that are published with other values: changed, one of the columns that are
--   published as they are; else a quasi column alone, which may still lie in the published cell
CREATE {{ moved | scratch }} AS
SELECT t.*
FROM (
    SELECT
        CAST(s.rid AS INTEGER) AS rid
        , l._sqlanon_class AS class
{% for c in quasi + kept %}
        , s.{{ c.alias }} AS {{ c.alias }}
{% endfor %}
        , ({% for c in kept %}{{ " OR " if not loop.first }}{% if c.as_text %}CAST(s.{{ c.alias }} AS VARCHAR) IS DISTINCT FROM CAST(l.{{ c.name | ident }} AS VARCHAR){% else %}s.{{ c.alias }} IS DISTINCT FROM l.{{ c.name | ident }}{% endif %}{% else %}1 = 0{% endfor %}) AS changed
        , (HASH({% for c in quasi %}{{ ", " if not loop.first }}{{ "CAST(s.%s AS VARCHAR)" % c.alias if c.listed else "s." ~ c.alias }}{% endfor %}) <> l._sqlanon_quasi) AS apart
    FROM {{ rows | table }} AS l
    JOIN {{ stage | table }} AS s ON s.person = l._sqlanon_key
    WHERE l._sqlanon_class IS NOT NULL AND l._sqlanon_gone IS NULL
{% if leaving %}
        AND NOT EXISTS (SELECT 1 FROM {{ leaving | table }} AS x WHERE x.class = l._sqlanon_class)
{% endif %}
) AS t
WHERE t.changed OR t.apart
