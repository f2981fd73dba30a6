-- name: frozen/dealt
-- params: dealt (table to make), history (rows of a cohort, as history/rows makes them),
--   least (rows of a group, at least), sensitive (numbers of the sensitive columns: 1, 2,
--   ..), divided (table of rows of classes that are divided already, or none)
-- returns: person (hash of the key), class, part (from 0), s1..: the rows of classes of twice
--   so many rows and more, dealt in turn to as many groups as can have so many: rows of one
--   value go to different groups, those of one combination of values in the order of their hash
-- Classes are counted by themselves, so that the rows of the others, nearly all, are never sorted.
CREATE {{ dealt | scratch }} AS
SELECT
    d.person AS person
    , d.class AS class
    , d.place - FLOOR(d.place / d.parts) * d.parts AS part
{% for i in sensitive %}
    , d.s{{ i }} AS s{{ i }}
{% endfor %}
FROM (
    SELECT
        h.person AS person
        , h.class AS class
        , CAST(ROW_NUMBER() OVER (
            PARTITION BY h.class ORDER BY {% for i in sensitive %}h.s{{ i }}, {% endfor %}h.person
        ) - 1 AS DOUBLE) AS place
        , FLOOR(CAST(t.n AS DOUBLE) / {{ least }}) AS parts
{% for i in sensitive %}
        , h.s{{ i }} AS s{{ i }}
{% endfor %}
    FROM {{ history | table }} AS h
    INNER JOIN (
        SELECT g.class AS class, COUNT(*) AS n
        FROM {{ history | table }} AS g
        GROUP BY g.class
        HAVING COUNT(*) >= 2 * {{ least }}
    ) AS t ON t.class = h.class
{% if divided %}
    WHERE NOT EXISTS (SELECT 1 FROM {{ divided | table }} AS x WHERE x.class = h.class)
{% endif %}
) AS d
