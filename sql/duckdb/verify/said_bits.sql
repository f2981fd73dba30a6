-- name: verify/said_bits
-- params: said (table to make), released (table), column (published), listed (the type as
--   which its originals are staged, or a table of them, value and n: 62 values at most), as_text (bool: they are
--   compared as text)
-- returns: id bigint, value: what the column says, each once, but NULL and none; the bits
--   of id are the listed values that it has; listed boolean: each of its members is a listed value, and there once
CREATE {{ said | scratch }} AS
SELECT
    COALESCE(BIT_OR(CAST(1 AS BIGINT) << p.place), 0) AS id
    , p.value AS value
    , COUNT(*) = COUNT(DISTINCT p.place) AS listed
FROM (
    SELECT m.value AS value, CAST(ENUM_CODE(TRY_CAST(m.member AS {{ listed | table }})) AS INTEGER) AS place
    FROM (
        SELECT d.value AS value, UNNEST(d.value) AS member
        FROM (
            SELECT DISTINCT r.{{ column | ident }} AS value
            FROM {{ released | table }} AS r
            WHERE r.{{ column | ident }} IS NOT NULL
        ) AS d
    ) AS m
) AS p
GROUP BY p.value
