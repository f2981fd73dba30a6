-- name: frozen/cohort
-- params: cohort (table to make), stage (table), compared (table, or none: the lineage
--   begins), erased (table), columns (names of the stage, without rid)
-- returns: the staged rows that were never published and are not refused or erased; rid integer, from 0 without a gap
CREATE {{ cohort | scratch }} AS
SELECT
    CAST(ROW_NUMBER() OVER () - 1 AS INTEGER) AS rid
{% for c in columns %}
    , s.{{ c | ident }} AS {{ c | ident }}
{% endfor %}
FROM {{ stage | table }} AS s
{% if compared %}
JOIN {{ compared | table }} AS c ON c.rid = s.rid
WHERE c.status IN ('new', 'waiting')
{% else %}
WHERE NOT EXISTS (SELECT 1 FROM {{ erased | table }} AS e WHERE e._sqlanon_key = s.person)
{% endif %}
