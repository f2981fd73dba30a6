-- name: statistics/compared_noise
-- params: compared (table to make), published (as statistics/published makes it), cells, noise (tables),
--   columns (list), measures (list), counted (n or persons), threshold, version, additive (bool)
-- returns: as statistics/compared: a cell is wrong whose number is not the true one with its
--   noise (unless additive), or lies outside of its bounds; result bigint (the number with noise)
{% from "core/statistics/cells.jinja" import same_cell %}
CREATE {{ compared | scratch }} AS
SELECT
    c.cell AS cell
    , c.{{ counted }} AS value
    , CASE WHEN c.persons < {{ threshold }} THEN 1 ELSE 0 END AS small
    , 1 AS hidden
    , CASE WHEN p.status IS NOT NULL THEN 1 END AS times
    , CASE
        WHEN p.status = 'perturbed'
            AND p.as_of = {{ version }}
            AND n.value = c.{{ counted }}
{% for m in measures %}
{% if not additive %}
            AND p.m{{ loop.index }} = n.value + n.change
{% else %}
            AND p.m{{ loop.index }} IS NOT NULL
{% endif %}
            AND p.lower{{ loop.index }} >= 1
            AND p.lower{{ loop.index }} <= c.{{ counted }}
            AND p.upper{{ loop.index }} >= c.{{ counted }}
{% endfor %}
            THEN 0
        ELSE 1
    END AS wrong
    , n.value + n.change AS result
FROM {{ cells | table }} AS c
LEFT JOIN {{ noise | table }} AS n ON n.cell = c.cell
FULL JOIN {{ published | table }} AS p
    ON
        {{ same_cell(columns, "p", "c") }}
