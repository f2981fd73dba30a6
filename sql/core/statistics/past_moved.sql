-- name: statistics/past_moved
-- params: moved (table to make), witness (table of witness, atom, change), atoms (as
--   statistics/past_atoms makes it), columns (list of {levels}), margins
-- returns: witness bigint, since, upto bigint, levels and keys, change bigint: by how much a witness
--   differs from the true table in each cell of the rows of some versions in a row, where it does
{% from "core/statistics/cells.jinja" import levels_and_keys, margin_sets, windows %}
CREATE {{ moved | scratch }} AS
SELECT g.*
FROM (
    SELECT
        t.witness AS witness
        , w.since AS since
        , w.upto AS upto
        , CAST(SUM(t.change) AS BIGINT) AS change
{{ levels_and_keys(columns, "a") }}
    FROM {{ witness | table }} AS t
    JOIN {{ atoms | table }} AS a ON a.atom = t.atom
    JOIN {{ windows(atoms) }} AS w ON a.batch >= w.since AND a.batch <= w.upto
    GROUP BY {{ margin_sets(columns, margins, "a", "t.witness, w.since, w.upto") }}
) AS g
WHERE g.change <> 0
