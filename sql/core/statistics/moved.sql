-- name: statistics/moved
-- params: moved (table to make), witness, atoms, cells (tables), columns (list of
--   {levels}), margins, sums (list of {place, limits (table)})
-- returns: witness bigint, cell bigint, change bigint: by how much a witness differs from
--   the true table in each cell, where it does; s<sum>, outside<sum> bigint: the same of
--   sums, and of how many atoms the change does not agree with what each contributor knows
{% from "core/statistics/cells.jinja" import levels_and_keys, margin_sets, same_cell %}
CREATE {{ moved | scratch }} AS
SELECT
    g.witness AS witness
    , c.cell AS cell
    , g.change AS change
{% for s in sums %}
    , g.s{{ s.place }} AS s{{ s.place }}
    , g.outside{{ s.place }} AS outside{{ s.place }}
{% endfor %}
FROM (
    SELECT
        w.witness AS witness
        , CAST(SUM(w.change) AS BIGINT) AS change
{% for s in sums %}
        , CAST(SUM(w.s{{ s.place }}) AS BIGINT) AS s{{ s.place }}
        , CAST(SUM(CASE
            WHEN w.s{{ s.place }} < COALESCE(b{{ s.place }}.low, 0)
                OR w.s{{ s.place }} > COALESCE(b{{ s.place }}.high, 0) THEN 1
            ELSE 0
        END) AS BIGINT) AS outside{{ s.place }}
{% endfor %}
{{ levels_and_keys(columns, "a") }}
    FROM {{ witness | table }} AS w
    JOIN {{ atoms | table }} AS a ON a.atom = w.atom
{% for s in sums %}
    LEFT JOIN {{ s.limits | table }} AS b{{ s.place }} ON b{{ s.place }}.atom = w.atom
{% endfor %}
    GROUP BY {{ margin_sets(columns, margins, "a", "w.witness") }}
) AS g
JOIN {{ cells | table }} AS c
    ON
        {{ same_cell(columns, "c", "g") }}
WHERE g.change <> 0{% for s in sums %} OR g.s{{ s.place }} <> 0{% endfor %}

