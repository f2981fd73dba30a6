-- name: table/domain_hierarchy
-- params: domain (table to make), leaves (table of leaf integer, label text), values
--   (table), type (SQL type), nulls (0 or 1)
-- returns: code integer (NULL 0 if present, then the number of the leaf), value, n bigint (0 where absent), pos, ord
CREATE {{ domain | scratch }} AS
SELECT CAST(h.leaf + {{ nulls }} AS INTEGER) AS code, h.value AS value, COALESCE(v.n, 0) AS n
    , CAST(0 AS INTEGER) AS pos, CAST(0 AS DOUBLE) AS ord
FROM (
    SELECT f.leaf AS leaf, CAST(f.label AS {{ type }}) AS value
    FROM {{ leaves | table }} AS f
) AS h
LEFT JOIN {{ values | table }} AS v ON v.value = h.value
{% if nulls %}
UNION
SELECT CAST(0 AS INTEGER) AS code, v.value AS value, v.n AS n, CAST(0 AS INTEGER) AS pos, CAST(0 AS DOUBLE) AS ord
FROM {{ values | table }} AS v
WHERE v.value IS NULL
{% endif %}
