-- name: anatomy/assign
-- params: assign (table to make), tied (table with tie), ranks (table of tie, rank: a
--   random order), slots (table of slot, class), value (sensitive code column)
-- returns: rid integer, class integer: rows of a value take its places in their random order
CREATE {{ assign | scratch }} AS
SELECT o.rid AS rid, s.class AS class
FROM (
    SELECT t.rid AS rid, ROW_NUMBER() OVER (ORDER BY t.{{ value }}, r.rank) - 1 AS slot
    FROM {{ tied | table }} AS t
    JOIN {{ ranks | table }} AS r ON r.tie = t.tie
) AS o
JOIN {{ slots | table }} AS s ON s.slot = o.slot
