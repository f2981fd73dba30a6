-- name: table/distinct
-- params: source (table), column (name, of a type with an order)
-- returns: breaks bigint: at most 1 only where no value repeats
-- Counts rows whose value is NULL or not above that of the row that is read before it. The first
-- row is one; where there is no other, no value repeats, whatever order the rows are read in.
SELECT CAST(COALESCE(SUM(CASE WHEN o.value > o.earlier THEN 0 ELSE 1 END), 0) AS BIGINT) AS breaks
FROM (
    SELECT s.{{ column | ident }} AS value, LAG(s.{{ column | ident }}) OVER () AS earlier
    FROM {{ source | table }} AS s
) AS o
