-- name: persons/usual
-- params: usual (table to make), work (table), person (code column of the persons), value (code column of a sensitive column)
-- returns: person integer, value integer: the code that most of the person's rows have; of equally many the least
CREATE {{ usual | scratch }} AS
SELECT c.person AS person, c.value AS value
FROM (
    SELECT w.{{ person }} AS person, w.{{ value }} AS value
        , ROW_NUMBER() OVER (PARTITION BY w.{{ person }} ORDER BY COUNT(*) DESC, w.{{ value }}) AS place
    FROM {{ work | table }} AS w
    GROUP BY w.{{ person }}, w.{{ value }}
) AS c
WHERE c.place = 1
