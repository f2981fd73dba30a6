-- name: verify/said
-- params: said (table to make), released (table), column (published)
-- returns: id bigint, value: what the column says, each once; NULL is 0
CREATE {{ said | scratch }} AS
SELECT ROW_NUMBER() OVER () AS id, d.value AS value
FROM (
    SELECT DISTINCT r.{{ column | ident }} AS value
    FROM {{ released | table }} AS r
    WHERE r.{{ column | ident }} IS NOT NULL
) AS d
UNION ALL
SELECT
    0 AS id
    , (
        SELECT MIN(r.{{ column | ident }})
        FROM {{ released | table }} AS r
        WHERE r.{{ column | ident }} IS NULL
    ) AS value
