-- name: table/distinct
-- Counts the repeats, twice, so that one is enough. Each value is a bit of a number of 64
-- bits that it shares with its neighbours: of serial numbers tasks send a number for 64
-- rows. A window without a partition would bring all rows to one task.
SELECT CAST(COALESCE(2 * (SUM(b.n) - SUM(BIT_COUNT(b.bits))), 0) AS BIGINT) AS breaks
FROM (
    SELECT COUNT(*) AS n, COALESCE(BIT_OR(SHIFTLEFT(1L, CAST(s.{{ column | ident }} & 63 AS INT))), 0L) AS bits
    FROM {{ source | table }} AS s
    GROUP BY SHIFTRIGHT(CAST(s.{{ column | ident }} AS BIGINT), 6)
) AS b
