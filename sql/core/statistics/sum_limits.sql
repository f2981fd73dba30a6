-- name: statistics/sum_limits
-- params: limits (table to make), contributions (table, as statistics/contributions makes it), insiders (bool)
-- returns: atom bigint, low bigint, high bigint: the least and the greatest change of each
--   atom's sum that agrees with what each contributor knows
CREATE {{ limits | scratch }} AS
SELECT
    c.atom AS atom
    , CAST({% if insiders %}MAX(c.above) - SUM(c.above){% else %}-SUM(c.above){% endif %} AS BIGINT) AS low
    , CAST({% if insiders %}SUM(c.below) - MAX(c.below){% else %}SUM(c.below){% endif %} AS BIGINT) AS high
FROM {{ contributions | table }} AS c
GROUP BY c.atom
