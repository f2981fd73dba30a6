-- name: table/ascending
-- params: source (table), column (name, of a type with an order)
-- returns: breaks bigint: at most 1 only where no value repeats
-- PostgreSQL sorts numbers in less time than it passes rows through a window, and sees that they are sorted already.
SELECT 2 * (COUNT(*) - COUNT(DISTINCT s.{{ column | ident }})) AS breaks
FROM {{ source | table }} AS s
