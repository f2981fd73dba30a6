-- name: verify/shared_events
-- params: tables (list of {table, token, event, key}: published tables of one scope with tokens of events)
-- returns: n bigint: tokens of events that have rows of more than one person, or none
SELECT COUNT(*) AS n
FROM (
    SELECT r.event AS event
    FROM (
{% for one in tables %}
{{ "UNION ALL" if not loop.first }}
        SELECT t.{{ one.token | ident }} AS token, {{ (one.key ~ ":") | literal }} || t.{{ one.event | ident }} AS event
        FROM {{ one.table | table }} AS t
{% endfor %}
    ) AS r
    GROUP BY r.event
    HAVING MIN(r.token) <> MAX(r.token) OR r.event IS NULL
) AS g
