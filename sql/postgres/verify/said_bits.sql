-- name: verify/said_bits
-- params: said (table to make), released (table), column (published), listed (the type as
--   which its originals are staged, or a table of them, value and n: 62 values at most), as_text (bool: they are
--   compared as text)
-- returns: id bigint, value: what the column says, each once, but NULL and none; the bits
--   of id are the listed values that it has; listed boolean: each of its members is a listed value, and there once
-- The first of the bits is of values that are not listed: no member has it.
CREATE {{ said | scratch }} AS
SELECT
    COALESCE(BIT_OR(CAST(1 AS BIGINT) << p.place), 0) AS id
    , p.value AS value
    , COUNT(*) = COUNT(DISTINCT p.place) AS listed
FROM (
    SELECT
        d.value AS value
        , ARRAY_POSITION(
            (
                SELECT ARRAY_AGG(v.value ORDER BY v.n DESC, v.value)
                FROM {{ listed | table }} AS v
                WHERE v.value IS NOT NULL
            )
            , {{ "CAST(m.member AS text)" if as_text else "m.member" }}
        ) AS place
    FROM (
        SELECT DISTINCT r.{{ column | ident }} AS value
        FROM {{ released | table }} AS r
        WHERE r.{{ column | ident }} IS NOT NULL
    ) AS d
    CROSS JOIN LATERAL UNNEST(d.value) AS m(member)
) AS p
GROUP BY p.value
