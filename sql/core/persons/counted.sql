-- name: persons/counted
-- params: work, stage (tables), person (code column of the persons in work), token (alias
--   of their tokens in stage), elsewhere (table of token and sign, or none)
-- returns: person integer, n integer (rows), sign integer (what the person's token is like
--   elsewhere, 0: it is not there), by person
SELECT
    CAST(g.person AS INTEGER) AS person
    , CAST(g.n AS INTEGER) AS n
    , CAST({{ "COALESCE(e.sign, 0)" if elsewhere else "0" }} AS INTEGER) AS sign
FROM (
    SELECT w.{{ person }} AS person, COUNT(*) AS n{% if elsewhere %}, MIN(s.{{ token }}) AS token{% endif %}

    FROM {{ work | table }} AS w
{% if elsewhere %}
    JOIN {{ stage | table }} AS s ON s.rid = w.rid
{% endif %}
    GROUP BY w.{{ person }}
) AS g
{% if elsewhere %}
LEFT JOIN {{ elsewhere | table }} AS e ON e.token = g.token
{% endif %}
ORDER BY person
