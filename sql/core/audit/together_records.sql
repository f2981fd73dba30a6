-- name: audit/together_records
-- params: records (table to make), stage (table of rid, link), first, second (tables of
--   link, and of classes: class; with boxes of their own: slot, box), own_first,
--   own_second (the certificates' tables of edges; none: they have classes)
-- returns: row bigint (0, 1, ..), place, beside bigint (class or box in the first and in
--   the second), slot, slot_beside (of boxes of their own; else NULL)
-- Rows of equal link are paired in turn. Rows that a release leaves out are a class of
-- their own; those that both leave out are in neither.
{% macro side(table, own) %}
SELECT
    t.link AS link
{% if own %}
    , CAST(t.box AS BIGINT) AS place, CAST(t.slot AS BIGINT) AS slot
    , ROW_NUMBER() OVER (PARTITION BY t.link ORDER BY t.slot) AS turn
{% else %}
    , CAST(COALESCE(t.class, -1) AS BIGINT) AS place, CAST(NULL AS BIGINT) AS slot
    , ROW_NUMBER() OVER (PARTITION BY t.link ORDER BY COALESCE(t.class, -1)) AS turn
{% endif %}
FROM {{ table | table }} AS t
{% endmacro %}
CREATE {{ records | scratch }} AS
SELECT
    ROW_NUMBER() OVER (ORDER BY s.rid) - 1 AS row
    , a.place AS place
    , b.place AS beside
    , a.slot AS slot
    , b.slot AS slot_beside
FROM (
    SELECT t.rid AS rid, t.link AS link, ROW_NUMBER() OVER (PARTITION BY t.link ORDER BY t.rid) AS turn
    FROM {{ stage | table }} AS t
) AS s
JOIN ({{ side(first, own_first) }}) AS a ON a.link = s.link AND a.turn = s.turn
JOIN ({{ side(second, own_second) }}) AS b ON b.link = s.link AND b.turn = s.turn
WHERE a.place >= 0 OR b.place >= 0
