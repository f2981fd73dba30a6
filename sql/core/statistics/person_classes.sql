-- name: statistics/person_classes
-- params: listed (table to make), rows (table, as statistics/rows makes it), stage, linked
--   (tables), link (see statistics/placed)
-- returns: person bigint, atom bigint, class bigint (-1: left out), times bigint: how many
--   rows a person has of each finest combination in each class
CREATE {{ listed | scratch }} AS
SELECT r.person AS person, r.atom AS atom, l.class AS class, COUNT(*) AS times
FROM (
    SELECT
        t.*
        , {{ link | link_of("t") }} AS placing
        , ROW_NUMBER() OVER (PARTITION BY {{ link | link_of("t") }} ORDER BY t.rid) AS turn
    FROM {{ stage | table }} AS t
) AS s
JOIN {{ rows | table }} AS r ON r.rid = s.rid
JOIN (
    SELECT
        k.link AS link
        , COALESCE(k.class, -1) AS class
        , ROW_NUMBER() OVER (PARTITION BY k.link ORDER BY COALESCE(k.class, -1)) AS turn
    FROM {{ linked | table }} AS k
) AS l ON l.link = s.placing AND l.turn = s.turn
GROUP BY r.person, r.atom, l.class
