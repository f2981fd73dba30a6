-- name: table/uniques
-- params: source (table), column (name), as_text (whether its type has no equality, so that its text is counted)
-- returns: filled bigint (rows not NULL), distinct_values bigint, singles bigint (rows
--   whose value occurs once), top bigint
SELECT
    CAST(COALESCE(SUM(g.n), 0) AS BIGINT) AS filled
    , COUNT(*) AS distinct_values
    , CAST(COALESCE(SUM(CASE WHEN g.n = 1 THEN 1 ELSE 0 END), 0) AS BIGINT) AS singles
    , CAST(COALESCE(MAX(g.n), 0) AS BIGINT) AS top
FROM (
    SELECT COUNT(*) AS n
    FROM {{ source | table }} AS s
    WHERE s.{{ column | ident }} IS NOT NULL
    GROUP BY {% if as_text %}CAST(s.{{ column | ident }} AS VARCHAR){% else %}s.{{ column | ident }}{% endif %}

) AS g
