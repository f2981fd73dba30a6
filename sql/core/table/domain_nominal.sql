-- name: table/domain_nominal
-- params: domain (table to make), values (table)
-- returns: code integer (NULL first, then by descending frequency, ties by bytes), value, n bigint, pos, ord
CREATE {{ domain | scratch }} AS
SELECT
    CAST(ROW_NUMBER() OVER (
        ORDER BY CASE WHEN v.value IS NULL THEN 0 ELSE 1 END, v.n DESC, v.value
    ) - 1 AS INTEGER) AS code
    , v.value AS value
    , v.n AS n
    , CAST(0 AS INTEGER) AS pos
    , CAST(0 AS DOUBLE) AS ord
FROM {{ values | table }} AS v
