-- name: workload/values
-- params: source (table), column (name), :most
-- returns: value: the values of one column without NULL, in no order; one more than :most at most
SELECT s.{{ column | ident }} AS value
FROM {{ source | table }} AS s
WHERE s.{{ column | ident }} IS NOT NULL
GROUP BY s.{{ column | ident }}
LIMIT :most + 1
