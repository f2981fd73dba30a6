-- name: attack/placed
-- params: placed (table to make), stage (table of rid, link), linked (a version's private table of link, and of
--   class, or of box where every row has a box of its own; none: every row counts as published), own (bool: boxes)
-- returns: rid integer, place bigint: the class of each row of the source that the version
--   was made of; -1: it left the row out
-- Rows of equal link are paired in turn: they are equal in all columns where the policy names no identifier.
CREATE {{ placed | scratch }} AS
{% if linked %}
SELECT s.rid AS rid, a.place AS place
FROM (
    SELECT t.rid AS rid, t.link AS link, ROW_NUMBER() OVER (PARTITION BY t.link ORDER BY t.rid) AS turn
    FROM {{ stage | table }} AS t
) AS s
JOIN (
    SELECT
        t.link AS link
        , CAST(COALESCE({{ "t.box" if own else "t.class" }}, -1) AS BIGINT) AS place
        , ROW_NUMBER() OVER (PARTITION BY t.link ORDER BY COALESCE({{ "t.box" if own else "t.class" }}, -1)) AS turn
    FROM {{ linked | table }} AS t
) AS a ON a.link = s.link AND a.turn = s.turn
{% else %}
SELECT t.rid AS rid, CAST(0 AS BIGINT) AS place
FROM {{ stage | table }} AS t
{% endif %}
