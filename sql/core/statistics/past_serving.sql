-- name: statistics/past_serving
-- params: serving (table to make), small (as statistics/past_small makes it), moved (as
--   statistics/past_moved makes it), columns (list), threshold
-- returns: the tables that take a small cell to an end: since, upto, levels and keys,
--   sole, atoms, high integer (1: to the threshold; 0: to the least), witness bigint; the
--   true table is witness -1, and the witness -2 is none, so that each end is listed
{% from "core/statistics/cells.jinja" import columns_of_cell, same_cell %}
CREATE {{ serving | scratch }} AS
SELECT
    s.since AS since
    , s.upto AS upto
    , s.sole AS sole
    , s.atoms AS atoms
    , e.high AS high
    , t.witness AS witness
{{ columns_of_cell(columns, "s") }}
FROM {{ small | table }} AS s
CROSS JOIN (SELECT 0 AS high UNION ALL SELECT 1 AS high) AS e
JOIN (
    SELECT
        m.since AS since
        , m.upto AS upto
        , m.witness AS witness
        , m.change AS change
{{ columns_of_cell(columns, "m") }}
    FROM {{ moved | table }} AS m
    UNION ALL
    SELECT
        x.since AS since
        , x.upto AS upto
        , y.witness AS witness
        , CAST(0 AS BIGINT) AS change
{{ columns_of_cell(columns, "x") }}
    FROM {{ small | table }} AS x
    CROSS JOIN (SELECT CAST(-1 AS BIGINT) AS witness UNION ALL SELECT CAST(-2 AS BIGINT) AS witness) AS y
) AS t ON t.since = s.since
    AND t.upto = s.upto
    AND {{ same_cell(columns, "t", "s") }}
WHERE t.witness = -2
    OR (e.high = 0 AND s.value + t.change <= s.least)
    OR (e.high = 1 AND s.value + t.change >= {{ threshold }})
