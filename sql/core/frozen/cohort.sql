-- name: frozen/cohort
-- params: cohort (table to make), stage (table), rows (the lineage's, or none: it has none yet), erased (table, or none), whole (bool:
--   rows of persons who are published wait), columns (names of the stage, without rid)
-- returns: the staged rows that were never published and are not refused or erased; rid integer, from 0 without a gap
CREATE {{ cohort | scratch }} AS
SELECT
    CAST(ROW_NUMBER() OVER () - 1 AS INTEGER) AS rid
{% for c in columns %}
    , s.{{ c | ident }} AS {{ c | ident }}
{% endfor %}
FROM {{ stage | table }} AS s
WHERE 1 = 1
{% if rows %}
    AND NOT EXISTS (
        SELECT 1 FROM {{ rows | table }} AS l
        WHERE l._sqlanon_key = s.person AND (l._sqlanon_class IS NOT NULL OR l._sqlanon_refused IS NOT NULL)
    )
{% if whole %}
    AND NOT EXISTS (SELECT 1 FROM {{ rows | table }} AS o WHERE o._sqlanon_owner = s.owner AND o._sqlanon_class IS NOT NULL)
{% endif %}
{% endif %}
{% if erased %}
    AND NOT EXISTS (SELECT 1 FROM {{ erased | table }} AS e WHERE e._sqlanon_key = s.person)
{% endif %}
