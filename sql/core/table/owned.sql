-- name: table/owned
-- params: source (table), column (name), person (name)
-- returns: n bigint: rows whose value only one person has, NULL not counted
SELECT CAST(COALESCE(SUM(CASE WHEN g.persons = 1 THEN g.n ELSE 0 END), 0) AS BIGINT) AS n
FROM (
    SELECT
        COUNT(*) AS n
        , COUNT(DISTINCT s.{{ person | ident }}) AS persons
    FROM {{ source | table }} AS s
    WHERE s.{{ column | ident }} IS NOT NULL
    GROUP BY s.{{ column | ident }}
) AS g
