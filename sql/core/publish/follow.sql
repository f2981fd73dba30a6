-- name: publish/follow
-- params: metadata (view to replace), before, after (metadata tables), columns (list of {name, before, after}: of
--   the view, of the table before, or none, and of the table after), view (whose columns say which version it
--   shows), column (a name), renamed (new names for the first columns of the view, or none), types (two expressions,
--   the types of the column in the view, v, and in shown, s; or none), shown (table of the version to come), next
--   (integer: 1 if the view of the version to come fulfils the condition, 0 if that of the version before does)
-- returns: the metadata view of one version or the other: of the one whose columns the view has. Where the view
--   has no column of that name, the name means the column outside, which is not NULL; of the view no row is read
CREATE OR REPLACE VIEW {{ metadata | table }} AS
SELECT {% for c in columns %}{{ ", " if not loop.first }}t.{{ c.name | ident }} AS {{ c.name | ident }}{% endfor %}

FROM (
    SELECT
        0 AS _sqlanon_next
        ,
{% for c in columns %}
        {{ ", " if not loop.first }}
{% if c.before is none %}
            CAST(NULL AS {{ dialect.text }})
{% else %}
            b.{{ c.before | ident }}
{% endif %}
            AS {{ c.name | ident }}
{% endfor %}
    FROM {{ before | table }} AS b
    UNION ALL
    SELECT
        1 AS _sqlanon_next
        ,
{% for c in columns %}
        {{ ", " if not loop.first }}a.{{ c.after | ident }} AS {{ c.name | ident }}
{% endfor %}
    FROM {{ after | table }} AS a
) AS t
JOIN (
{% block next %}
    SELECT CASE WHEN EXISTS (
        SELECT 1
        FROM (SELECT 1 AS _sqlanon_one) AS o
        LEFT JOIN {{ view | table }} AS v
{% if renamed %}
            ({% for c in renamed %}{{ ", " if not loop.first }}{{ c | ident }}{% endfor %})
{% endif %}
            ON 1 = 0
{% if types %}
        LEFT JOIN {{ shown | table }} AS s ON 1 = 0
        WHERE {{ types[0] }} = {{ types[1] }}
{% else %}
        WHERE {{ column | ident }} IS NULL
{% endif %}
    ) THEN {{ next }} ELSE 1 - {{ next }} END AS _sqlanon_next
    FROM (SELECT 1 AS {{ column | ident }}) AS p
{% endblock %}
) AS q ON q._sqlanon_next = t._sqlanon_next
