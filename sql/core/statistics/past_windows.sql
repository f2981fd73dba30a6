-- name: statistics/past_windows
-- params: atoms (as statistics/past_atoms makes it), cells (as statistics/past_cells makes it), columns
--   (list of {levels}), margins, threshold, first (the first version of all), batch (number of the version)
-- returns: of the rows of each version, and of some versions in a row, but not of all:
--   since, upto bigint, first bigint (an atom), small and shown integer (1: few persons;
--   1: readers have the number), levels; the cells that readers know of, and small ones
{% from "core/statistics/cells.jinja" import levels_and_keys, margin_sets, same_cell, windows %}
SELECT
    g.since AS since
    , g.upto AS upto
    , g.first AS first
    , CASE WHEN g.persons < {{ threshold }} THEN 1 ELSE 0 END AS small
    , CASE WHEN p.hidden = 0 THEN 1 ELSE 0 END AS shown
{% for c in columns %}
    , g.l{{ loop.index }} AS l{{ loop.index }}
{% endfor %}
FROM (
    SELECT
        w.since AS since
        , w.upto AS upto
        , MIN(a.atom) AS first
        , SUM(a.persons) AS persons
{{ levels_and_keys(columns, "a") }}
    FROM {{ atoms | table }} AS a
    JOIN {{ windows(atoms) }} AS w ON a.batch >= w.since AND a.batch <= w.upto
    GROUP BY {{ margin_sets(columns, margins, "a", "w.since, w.upto") }}
) AS g
LEFT JOIN {{ cells | table }} AS p ON p.since = g.since
    AND p.batch = g.upto
    AND {{ same_cell(columns, "p", "g") }}
WHERE (g.since <> {{ first }} OR g.upto <> {{ batch }}) AND (g.persons < {{ threshold }} OR p.since IS NOT NULL)
ORDER BY g.since, g.upto, g.first{% for c in columns %}, g.l{{ loop.index }}, g.k{{ loop.index }}{% endfor %}

