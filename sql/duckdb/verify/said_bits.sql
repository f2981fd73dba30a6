-- name: verify/said_bits
-- params: said (table to make), released (table), column (published), listed (the type as
--   which its originals are staged: 62 values at most)
-- returns: id bigint, value: what the column says, each once, but NULL and none; the bits
--   of id are the values of the type that it has
CREATE {{ said | scratch }} AS
SELECT
    COALESCE(
        BIT_OR(CAST(1 AS BIGINT) << CAST(ENUM_CODE(TRY_CAST(m.member AS {{ listed | table }})) AS INTEGER)), 0
    ) AS id
    , m.value AS value
FROM (
    SELECT d.value AS value, UNNEST(d.value) AS member
    FROM (
        SELECT DISTINCT r.{{ column | ident }} AS value
        FROM {{ released | table }} AS r
        WHERE r.{{ column | ident }} IS NOT NULL
    ) AS d
) AS m
GROUP BY m.value
