-- name: statistics/pattern_moved
-- params: moved (table to make), witness, patterns, atoms, cells (tables), columns (list of {levels}), margins
-- returns: witness bigint, cell bigint, persons bigint, n bigint: by how many persons and rows a
--   witness differs from the true source in each cell, where it does; a person counts once in a cell
{% from "core/statistics/cells.jinja" import columns_of_cell, levels_and_keys, margin_sets, same_cell %}
CREATE {{ moved | scratch }} AS
SELECT h.witness AS witness, c.cell AS cell, h.persons AS persons, h.n AS n
FROM (
    SELECT
        g.witness AS witness
        , CAST(SUM(g.change) AS BIGINT) AS persons
        , CAST(SUM(g.change * g.times) AS BIGINT) AS n
{{ columns_of_cell(columns, "g") }}
    FROM (
        SELECT
            w.witness AS witness
            , w.pattern AS pattern
            , MAX(w.change) AS change
            , CAST(SUM(q.times) AS BIGINT) AS times
{{ levels_and_keys(columns, "a") }}
        FROM {{ witness | table }} AS w
        JOIN {{ patterns | table }} AS q ON q.pattern = w.pattern
        JOIN {{ atoms | table }} AS a ON a.atom = q.atom
        GROUP BY {{ margin_sets(columns, margins, "a", "w.witness, w.pattern") }}
    ) AS g
    GROUP BY g.witness{% for c in columns %}, g.l{{ loop.index }}, g.k{{ loop.index }}{% endfor %}

) AS h
JOIN {{ cells | table }} AS c
    ON
        {{ same_cell(columns, "c", "h") }}
WHERE h.persons <> 0 OR h.n <> 0
