-- name: formats/labels_shown
-- params: shown (table to make), boxes (table), columns (list of {code, kind, domain, members,
--   labels, key, leveled (bool: boxes have a level), height, names (published names by part)})
-- returns: _sqlanon_class, the published columns of these quasi columns: one row a class. Planning a join takes an
--   engine more than linear time in its tables, so a statement has few columns.
CREATE {{ shown | scratch }} AS
SELECT
    b.class AS _sqlanon_class
{% for c in columns %}
    , CASE
{% if c.leveled %}
        WHEN b.at_{{ c.code }} {{ ">" if c.kind == "tree" else ">=" }} {{ c.height }} THEN '*'
{% endif %}
        WHEN b.null_{{ c.code }} = 'all' THEN 'NULL'
        WHEN b.null_{{ c.code }} = 'some' THEN '*'
{% if c.kind == "ordered" %}
        WHEN b.lo_{{ c.code }} = b.hi_{{ c.code }} THEN tl{{ c.code }}.label
        ELSE '[' || tl{{ c.code }}.label || ', ' || th{{ c.code }}.label || ']'
{% elif c.kind == "set" %}
        ELSE m{{ c.code }}.label
{% else %}
        ELSE t{{ c.code }}.label
{% endif %}
      END AS {{ c.names.value | ident }}
{% endfor %}
FROM {{ boxes | table }} AS b
{% for c in columns %}
{% if c.kind == "ordered" %}
LEFT JOIN {{ c.labels | table }} AS tl{{ c.code }} ON tl{{ c.code }}.code = b.lo_{{ c.code }}
LEFT JOIN {{ c.labels | table }} AS th{{ c.code }} ON th{{ c.code }}.code = b.hi_{{ c.code }}
{% elif c.kind == "set" %}
LEFT JOIN {{ c.members | table }} AS m{{ c.code }} ON m{{ c.code }}.key = b.{{ c.key }}
{% else %}
LEFT JOIN {{ c.labels | table }} AS t{{ c.code }} ON t{{ c.code }}.low = b.lo_{{ c.code }}
    AND t{{ c.code }}.high = b.hi_{{ c.code }}
{% if c.leveled %}
    AND t{{ c.code }}.at = b.at_{{ c.code }}
{% endif %}
{% endif %}
{% endfor %}
