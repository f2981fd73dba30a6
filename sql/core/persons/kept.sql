-- name: persons/kept
-- params: kept (table to make), work, stage, planned (tables; of planned: person, take),
--   person (code column of the persons), columns (all columns of work but rid)
-- returns: of each person so many rows as planned; which, a hash of the row decides that is keyed with :secret
CREATE {{ kept | scratch }} AS
SELECT o.rid AS rid{% for c in columns %}, o.{{ c }} AS {{ c }}{% endfor %}

FROM (
    SELECT w.rid AS rid{% for c in columns %}, w.{{ c }} AS {{ c }}{% endfor %}, p.take AS take
        , ROW_NUMBER() OVER (
            PARTITION BY w.{{ person }}
            ORDER BY SHA256(CAST(:secret AS VARCHAR) || '/kept/' || CAST(s.link AS VARCHAR)), w.rid
        ) AS place
    FROM {{ work | table }} AS w
    JOIN {{ planned | table }} AS p ON p.person = w.{{ person }}
    JOIN {{ stage | table }} AS s ON s.rid = w.rid
) AS o
WHERE o.place <= o.take
