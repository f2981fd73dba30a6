-- name: statistics/record_keys
-- params: made (table to make), stage (table), person (alias of the persons' numbers),
--   :inner, :outer (padded keys of an HMAC, in hexadecimal)
-- returns: person bigint, key bigint: of each person the first 32 bits of HMAC-SHA-256 of the person's hash
CREATE {{ made | scratch }} AS
SELECT
    h.person AS person
    ,
{% block number %}
{% for at in range(1, 9) %}
        {{ " + " if not loop.first }}CAST(STRPOS('123456789abcdef', SUBSTRING(h.digits, {{ at }}, 1)) AS BIGINT)
            * {{ 16 ** (8 - at) }}
{% endfor %}
{% endblock %}
        AS key
FROM (
    SELECT
        o.person AS person
        ,
{% block digits %}
            SHA256(UNHEX(:outer) || UNHEX(SHA256(UNHEX(:inner) || ENCODE(o.owner))))
{% endblock %}
            AS digits
    FROM (
        SELECT s.{{ person }} AS person, MIN(s.owner) AS owner
        FROM {{ stage | table }} AS s
        GROUP BY s.{{ person }}
    ) AS o
) AS h
