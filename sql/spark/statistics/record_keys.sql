-- name: statistics/record_keys
-- params: made (table to make), stage (table), person (alias of the persons' numbers), :inner, :outer (padded keys of an HMAC, in
--   hexadecimal)
-- returns: person bigint, key bigint: of each person the first 32 bits of HMAC-SHA-256 of the person's hash
CREATE {{ made | scratch }} AS
SELECT
    h.person AS person
    , CAST(CONV(SUBSTRING(h.digits, 1, 8), 16, 10) AS BIGINT) AS key
FROM (
    SELECT o.person AS person, SHA2(UNHEX(:outer) || UNHEX(SHA2(UNHEX(:inner) || ENCODE(o.owner, 'UTF-8'), 256)), 256) AS digits
    FROM (
        SELECT s.{{ person }} AS person, MIN(s.owner) AS owner
        FROM {{ stage | table }} AS s
        GROUP BY s.{{ person }}
    ) AS o
) AS h
