-- name: frozen/compared
-- params: compared (table to make), rows (the lineage's), stage (the source's rows, with their key), erased
--   (hashes of keys that are never published again), whole (bool: both have the person, and rows of persons
--   who are published wait), quasi (list of {alias, listed, as_text}), kept (list of {alias, name, as_text})
-- returns: rid integer (of the source's row; NULL: the source does not have it), class bigint (in which it
--   is published; NULL: in none), status text (what the lineage has of the source's row; NULL: it is not
--   the source's), known (bool: the lineage has its key), erased bool, first text (since when it waits, of
--   rows that were never published), changed, apart (bool: a column that is published as it is, or a quasi
--   value, is not what it was): every row of the source and of the lineage. They are compared here, once
CREATE {{ compared | scratch }} AS
SELECT
    s.rid AS rid
    , CASE WHEN l._sqlanon_gone IS NULL THEN l._sqlanon_class END AS class
    , CASE
        WHEN s.rid IS NULL THEN NULL
        WHEN e._sqlanon_key IS NOT NULL THEN 'erased'
{% if whole %}
        WHEN l._sqlanon_class IS NULL AND l._sqlanon_refused IS NULL AND p.owner IS NOT NULL THEN 'later'
{% endif %}
        WHEN l._sqlanon_key IS NULL THEN 'new'
        WHEN l._sqlanon_gone IS NOT NULL THEN 'gone'
        WHEN l._sqlanon_class IS NOT NULL THEN 'published'
        WHEN l._sqlanon_refused IS NOT NULL THEN 'refused'
        ELSE 'waiting'
    END AS status
    , l._sqlanon_key IS NOT NULL AS known
    , e._sqlanon_key IS NOT NULL AS erased
    , CASE WHEN l._sqlanon_class IS NULL THEN l._sqlanon_first END AS first
    , (
{% for c in kept %}
        {{ " OR " if not loop.first }}
{% if c.as_text %}
            CAST(s.{{ c.alias }} AS {{ dialect.text }}) IS DISTINCT
            FROM CAST(l.{{ c.name | ident }} AS {{ dialect.text }})
{% else %}
            s.{{ c.alias }} IS DISTINCT FROM l.{{ c.name | ident }}
{% endif %}
{% else %}
        1 = 0
{% endfor %}
    ) AS changed
    , (
{% block hashed %}
        HASH(
{% for c in quasi %}
            {{ ", " if not loop.first }}{{ "CAST(s.%s AS VARCHAR)" % c.alias if c.listed else "s." ~ c.alias }}
{% endfor %}
        )
{% endblock %}
        <> l._sqlanon_quasi
    ) AS apart
FROM {{ rows | table }} AS l
FULL JOIN {{ stage | table }} AS s ON s.person = l._sqlanon_key
LEFT JOIN {{ erased | table }} AS e ON e._sqlanon_key = COALESCE(s.person, l._sqlanon_key)
{% if whole %}
LEFT JOIN (
    -- By the owner that a row was published with, and by the one that the source has for it now.
    SELECT x._sqlanon_owner AS owner FROM {{ rows | table }} AS x WHERE x._sqlanon_class IS NOT NULL
    UNION
    SELECT y.owner
    FROM {{ stage | table }} AS y
    JOIN {{ rows | table }} AS x ON x._sqlanon_key = y.person
    WHERE x._sqlanon_class IS NOT NULL
) AS p ON p.owner = s.owner
{% endif %}
