-- name: persons/usual
-- params: usual (table to make), work (table), person (code column of the persons), value
--   (code column of a sensitive column), codes (integer, how many of them)
-- returns: person integer, value integer: the code that most of the person's rows have; of
--   equally many each for some persons, so that none is preferred; n bigint: how many do
CREATE {{ usual | scratch }} AS
SELECT c.person AS person, c.value AS value, c.n AS n
FROM (
    SELECT w.{{ person }} AS person, w.{{ value }} AS value, COUNT(*) AS n
        , ROW_NUMBER() OVER (
            PARTITION BY w.{{ person }}
            ORDER BY COUNT(*) DESC, (CAST(w.{{ person }} AS BIGINT) + w.{{ value }}) % :codes, w.{{ value }}
        ) AS place
    FROM {{ work | table }} AS w
    GROUP BY w.{{ person }}, w.{{ value }}
) AS c
WHERE c.place = 1
