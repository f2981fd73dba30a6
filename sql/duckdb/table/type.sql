-- name: table/type
-- params: made (type to make), source (table), column (of text)
-- returns: a type that lists the values of the column, sorted by bytes, so that it sorts and compares as they do
CREATE TEMPORARY TYPE {{ made | table }} AS ENUM (
    SELECT DISTINCT s.{{ column | ident }} AS value
    FROM {{ source | table }} AS s
    WHERE s.{{ column | ident }} IS NOT NULL
    ORDER BY value
)
