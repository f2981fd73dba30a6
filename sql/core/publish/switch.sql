-- name: publish/switch
-- params: view (to replace), before, after (tables; one of them may be none, then the view
--   has no rows of that version), columns (list of {name, before, after}: of the view and
--   of each table), metadata (view), next (metadata table of the version to come)
-- returns: the view of one version or the other: of the one whose metadata the metadata view shows.
--   That view is named once, so that a reader sees one version however his engine looks views up
CREATE OR REPLACE VIEW {{ view | table }} AS
SELECT {% for c in columns %}{{ ", " if not loop.first }}t.{{ c.name | ident }} AS {{ c.name | ident }}{% endfor %}

FROM (
{% if before %}
    SELECT
        0 AS _sqlanon_next
        ,
{% for c in columns %}
        {{ ", " if not loop.first }}b.{{ c.before | ident }} AS {{ c.name | ident }}
{% endfor %}
    FROM {{ before | table }} AS b
{% endif %}
{% if before and after %}
    UNION ALL
{% endif %}
{% if after %}
    SELECT
        1 AS _sqlanon_next
        ,
{% for c in columns %}
        {{ ", " if not loop.first }}a.{{ c.after | ident }} AS {{ c.name | ident }}
{% endfor %}
    FROM {{ after | table }} AS a
{% endif %}
) AS t
JOIN (
    SELECT CASE WHEN m.published = n.published THEN 1 ELSE 0 END AS _sqlanon_next
    FROM {{ metadata | table }} AS m
    CROSS JOIN {{ next | table }} AS n
    WHERE m.column_name = '' AND n.column_name = ''
) AS p ON p._sqlanon_next = t._sqlanon_next
