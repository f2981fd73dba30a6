-- name: statistics/able_limits
-- params: every (table to make), limits, able (tables)
-- returns: atom bigint, low bigint, high bigint: the limits of each sum; of combinations
--   that do not occur no change agrees with what contributors know
CREATE {{ every | scratch }} AS
SELECT l.atom AS atom, l.low AS low, l.high AS high
FROM {{ limits | table }} AS l
UNION ALL
SELECT b.atom AS atom, CAST(0 AS BIGINT) AS low, CAST(0 AS BIGINT) AS high
FROM {{ able | table }} AS b
