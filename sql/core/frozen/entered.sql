-- name: frozen/entered
-- params: entered (table to make), classed (rows of the cohort, with their class and key), history (their
--   history), waits (the lineage's rows, or none), version, offset (whole numbers), quasi (list of {alias,
--   listed (bool: a type that lists texts), as_text (bool: that, or a type with operators of its own)}),
--   kept (list of {alias, name}), sensitive (numbers of the sensitive columns: 1, 2, ..), at (the time of
--   the run), owned (bool: the person's hash is kept), exits (table of rows of exit groups, or none)
-- returns: the cohort's rows as the lineage keeps them: key, class, versions, hashes, and
--   the columns that are published as they are
CREATE {{ entered | scratch }} AS
SELECT
    k.person AS _sqlanon_key
    , CAST({{ "COALESCE(x.number, h.class)" if exits else "h.class" }} + {{ offset }} AS BIGINT) AS _sqlanon_class
    , CAST({{ version }} AS BIGINT) AS _sqlanon_since
    , CAST(NULL AS BIGINT) AS _sqlanon_gone
    ,
{% if waits %}
        COALESCE(w._sqlanon_first, CAST(:at AS {{ dialect.text }}))
{% else %}
        CAST(:at AS {{ dialect.text }})
{% endif %}
        AS _sqlanon_first
    , CAST(NULL AS BIGINT) AS _sqlanon_refused
    ,
{% block hashed %}
        HASH(
{% for c in quasi %}
            {{ ", " if not loop.first }}{{ "CAST(k.%s AS VARCHAR)" % c.alias if c.listed else "k." ~ c.alias }}
{% endfor %}
        )
{% endblock %}
        AS _sqlanon_quasi
    , h.mark AS _sqlanon_mark
{% if owned %}
    , k.owner AS _sqlanon_owner
{% endif %}
{% for i in sensitive %}
    , h.s{{ i }} AS _sqlanon_s{{ i }}
{% endfor %}
{% for c in kept %}
    , k.{{ c.alias }} AS {{ c.name | ident }}
{% endfor %}
FROM {{ classed | table }} AS k
JOIN {{ history | table }} AS h ON h.person = k.person
{% if exits %}
LEFT JOIN {{ exits | table }} AS x ON x.person = k.person
{% endif %}
{% if waits %}
LEFT JOIN {{ waits | table }} AS w ON w._sqlanon_key = k.person
{% endif %}
