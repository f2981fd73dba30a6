-- name: statistics/fitted_cells
-- params: fitted (table to make), atoms, cells (tables), nearest (table of atom, value),
--   columns (list of {levels}), margins
-- returns: cell bigint, value double: the sum of the numbers of its atoms
{% from "core/statistics/cells.jinja" import columns_of_levels, levels_and_keys, margin_sets %}
CREATE {{ fitted | scratch }} AS
SELECT c.cell AS cell, g.value AS value
FROM (
    SELECT
        SUM(x.value) AS value
{{ levels_and_keys(columns, "x") }}
    FROM (
        SELECT
            f.value AS value
{{ columns_of_levels(columns, "a") }}
        FROM {{ atoms | table }} AS a
        JOIN {{ nearest | table }} AS f ON f.atom = a.atom
    ) AS x
    GROUP BY {{ margin_sets(columns, margins, "x") }}
) AS g
JOIN {{ cells | table }} AS c ON
{% for column in columns %}
    {{ " AND " if not loop.first }}c.l{{ loop.index }} = g.l{{ loop.index }}
    AND c.k{{ loop.index }} = g.k{{ loop.index }}
{% endfor %}