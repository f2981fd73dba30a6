-- name: statistics/cells
-- params: cells (table to make), rows (table, as statistics/rows makes it), columns (list of {levels}),
--   margins (lists of the level of each column, its number of levels for the total), sums (list)
-- returns: cell bigint (a number from 1), level and key of each column, l<column> integer and k<column>
--   text ('*' for the total), n bigint (rows), persons bigint, s<sum> bigint, first bigint (an atom)
{% from "core/statistics/cells.jinja" import columns_of_cell, levels_and_keys, margin_sets %}
CREATE {{ cells | scratch }} AS
SELECT
    ROW_NUMBER() OVER (
        ORDER BY {% for c in columns %}{{ ", " if not loop.first }}g.l{{ loop.index }}, g.k{{ loop.index }}{% endfor %}
    ) AS cell
{{ columns_of_cell(columns, "g") }}
    , g.n AS n
    , g.persons AS persons
{% for s in sums %}
    , g.s{{ loop.index }} AS s{{ loop.index }}
{% endfor %}
    , g.first AS first
FROM (
    SELECT
        COUNT(*) AS n
        , COUNT(DISTINCT r.person) AS persons
{% for s in sums %}
        , CAST(SUM(r.s{{ loop.index }}) AS BIGINT) AS s{{ loop.index }}
{% endfor %}
        , MIN(r.atom) AS first
{{ levels_and_keys(columns, "r") }}
    FROM {{ rows | table }} AS r
    GROUP BY {{ margin_sets(columns, margins, "r") }}
) AS g
