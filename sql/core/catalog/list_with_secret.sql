-- name: catalog/list_with_secret
-- params: catalog (table), columns (list of {name, known}: see catalog/list), secrets (table)
-- returns: the columns of all versions, newest last, and the secret text of the release :release, or NULL
SELECT v.*, (SELECT MIN(s.secret) FROM {{ secrets | table }} AS s WHERE s.release = :release) AS secret
FROM (
    SELECT
{% for c in columns %}
        {{ "" if loop.first else ", " }}{{ "c." ~ (c.name | ident) if c.known
            else "CAST(NULL AS TEXT)" }} AS {{ c.name | ident }}
{% endfor %}
    FROM {{ catalog | table }} AS c
    WHERE c.version IS NOT NULL
) AS v
ORDER BY v.release, v.version
