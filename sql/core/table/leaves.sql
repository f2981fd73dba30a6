-- name: table/leaves
-- params: leaves (table to make), labels (table of label text), type (SQL type)
-- returns: value: the leaves of a hierarchy, in the type of its column
CREATE {{ leaves | scratch }} AS
SELECT CAST(f.label AS {{ type }}) AS value
FROM {{ labels | table }} AS f
