-- name: statistics/verify_nearest
-- params: published (as statistics/published makes it), atoms, cells, noise (tables),
--   columns (list of {levels}), margins, near (a number)
-- returns: failing bigint: atoms where the differences of the numbers with noise and the
--   published ones, summed over the cells that contain the atom, are not about 0; where all are,
--   no other numbers that add up are nearer (least squares; cells of the same persons count once)
{% from "core/statistics/verify_cells.jinja" import columns_of_cell, same_cell %}
SELECT COUNT(*) AS failing
FROM (
    SELECT d.atom AS atom, SUM(d.rest) AS rest
    FROM (
{% for margin in margins %}
{{ "UNION ALL" if not loop.first }}
        SELECT a.atom AS atom, r.rest AS rest
        FROM (
            SELECT
                (n.value + n.change - p.m1) / COUNT(*) OVER (PARTITION BY n.key, n.value, n.marks) AS rest
{{ columns_of_cell(columns, "p") }}
            FROM {{ noise | table }} AS n
            JOIN {{ cells | table }} AS c ON c.cell = n.cell
            JOIN {{ published | table }} AS p ON
                {{ same_cell(columns, "p", "c") }}
        ) AS r
        JOIN {{ atoms | table }} AS a
            ON
{% for column in columns %}
                {{ " AND " if not loop.first }}
{% if margin[loop.index0] < column.levels %}
                    a.v{{ loop.index }}_{{ margin[loop.index0] }}
{% else %}
                    '*'
{% endif %}
                    = r.k{{ loop.index }}
{% endfor %}
        WHERE {% for level in margin %}{{ " AND " if not loop.first }}r.l{{ loop.index }} = {{ level }}{% endfor %}

{% endfor %}
    ) AS d
    GROUP BY d.atom
) AS t
WHERE ABS(t.rest) > {{ near }}
