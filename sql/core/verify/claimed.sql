-- name: verify/claimed
-- params: claimed (table to make), released (table), kept (published columns that are
--   compared as they are), said (list of {column, table})
-- returns: the class, the kept columns, and per entry of ``said`` _sqlanon_said<its
--   place>: the number of what the column says
CREATE {{ claimed | scratch }} AS
SELECT
    r._sqlanon_class AS _sqlanon_class
{% for name in kept %}
    , r.{{ name | ident }} AS {{ name | ident }}
{% endfor %}
{% for s in said %}
    , COALESCE(t{{ loop.index }}.id, 0) AS _sqlanon_said{{ loop.index }}
{% endfor %}
FROM {{ released | table }} AS r
{% for s in said %}
LEFT JOIN {{ s.table | table }} AS t{{ loop.index }} ON t{{ loop.index }}.value = r.{{ s.column | ident }}
{% endfor %}
