-- name: statistics/verify_person_parts
-- params: listed (table to make), keyed (table, as statistics/verify_rows makes it), stage, linked
--   (tables), link (see statistics/placed), atoms (table of parts), columns (list of {levels})
-- returns: person bigint, atom bigint, times bigint: of the staged rows how many a person
--   has of each part; for verification alone
CREATE {{ listed | scratch }} AS
SELECT d.person AS person, a.atom AS atom, COUNT(*) AS times
FROM (
    SELECT k.*, ROW_NUMBER() OVER (PARTITION BY k.placing ORDER BY k.rid) AS turn
    FROM (
        SELECT
            t.rid AS rid
            , o.person AS person
            , {{ link | link_of("t") }} AS placing
{% for c in columns %}
            , o.v{{ loop.index }}_0 AS v{{ loop.index }}_0
{% endfor %}
        FROM {{ stage | table }} AS t
        JOIN {{ keyed | table }} AS o ON o.rid = t.rid
    ) AS k
) AS d
JOIN (
    SELECT
        q.link AS link
        , COALESCE(q.class, -1) AS class
        , ROW_NUMBER() OVER (PARTITION BY q.link ORDER BY COALESCE(q.class, -1)) AS turn
    FROM {{ linked | table }} AS q
) AS l ON l.link = d.placing AND l.turn = d.turn
JOIN {{ atoms | table }} AS a ON a.class = l.class
{% for c in columns %}
    AND a.v{{ loop.index }}_0 = d.v{{ loop.index }}_0
{% endfor %}
GROUP BY d.person, a.atom
