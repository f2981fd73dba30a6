-- name: verify/value_texts
-- params: target (table), value (column name)
-- returns: value bigint (0, 1, .. by ascending values, NULL first), text of the value, or NULL
SELECT CAST(DENSE_RANK() OVER (ORDER BY v.value NULLS FIRST) - 1 AS BIGINT) AS value, CAST(v.value AS VARCHAR) AS label
FROM (
    SELECT DISTINCT t.{{ value | ident }} AS value
    FROM {{ target | table }} AS t
) AS v
