-- name: fulldomain/counted
-- params: cells (table of code columns and n), columns (code columns)
-- returns: the code columns integer, n bigint
SELECT {% for column in columns %}t.{{ column }} AS {{ column }}, {% endfor %}CAST(t.n AS BIGINT) AS n
FROM {{ cells | table }} AS t
