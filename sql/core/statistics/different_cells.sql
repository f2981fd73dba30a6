-- name: statistics/different_cells
-- params: atoms (table), columns (list of {levels}), margins
-- returns: different bigint: how many cells have different atoms
{% from "core/statistics/cells.jinja" import margin_sets %}
SELECT COUNT(*) AS different
FROM (
    SELECT DISTINCT g.first AS first, g.parts AS parts, g.marks AS marks, g.squares AS squares
    FROM (
        SELECT
            MIN(x.atom) AS first
            , COUNT(*) AS parts
            , SUM(x.atom) AS marks
            , SUM(CAST(x.atom AS DECIMAL(38, 0)) * x.atom) AS squares
        FROM {{ atoms | table }} AS x
        GROUP BY {{ margin_sets(columns, margins, "x") }}
    ) AS g
) AS d
