-- name: table/ends
-- params: source (table), column (name, of numbers or dates), most (whole number)
-- returns: is_top boolean (of the greatest values, not of the least ones), value (the column's type)
-- The least and the greatest values of a column, each once.
SELECT FALSE AS is_top, l.value
FROM (
    SELECT DISTINCT s.{{ column | ident }} AS value
    FROM {{ source | table }} AS s
    WHERE s.{{ column | ident }} IS NOT NULL
    ORDER BY value
    LIMIT {{ most }}
) AS l
UNION ALL
SELECT TRUE AS is_top, h.value
FROM (
    SELECT DISTINCT s.{{ column | ident }} AS value
    FROM {{ source | table }} AS s
    WHERE s.{{ column | ident }} IS NOT NULL
    ORDER BY value DESC
    LIMIT {{ most }}
) AS h
