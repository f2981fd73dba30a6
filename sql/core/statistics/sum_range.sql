-- name: statistics/sum_range
-- params: stage (table), sum ({alias, factor, low, high (in units), most})
-- returns: nulls bigint, outside bigint (rows out of the range), large bigint (1: absolute
--   values add up to more than most units)
SELECT
    CAST(COALESCE(SUM(CASE WHEN s.{{ sum.alias }} IS NULL THEN 1 ELSE 0 END), 0) AS BIGINT) AS nulls
    , CAST(COALESCE(SUM(CASE
        WHEN s.{{ sum.alias }} * {{ sum.factor }} < {{ sum.low }}
            OR s.{{ sum.alias }} * {{ sum.factor }} > {{ sum.high }} THEN 1
        ELSE 0
    END), 0) AS BIGINT) AS outside
    , CASE
        WHEN SUM(ABS(CAST(s.{{ sum.alias }} AS DOUBLE))) * {{ sum.factor }} > {{ sum.most }} THEN 1
        ELSE 0
    END AS large
FROM {{ stage | table }} AS s
