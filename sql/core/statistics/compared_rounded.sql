-- name: statistics/compared_rounded
-- params: compared (table to make), published (as statistics/published makes it), cells
--   (tables), columns (list), measures (list), counted (n or persons), threshold, version, base
-- returns: as statistics/compared: a cell is wrong whose number is no multiple of the base, or is not
--   within the base of the true one, or whose bounds are not those that this gives; lower, upper bigint
{% from "core/statistics/cells.jinja" import same_cell %}
CREATE {{ compared | scratch }} AS
SELECT
    c.cell AS cell
    , c.{{ counted }} AS value
    , CASE WHEN c.persons < {{ threshold }} THEN 1 ELSE 0 END AS small
    , 1 AS hidden
    , CASE WHEN p.status IS NOT NULL THEN 1 END AS times
    , CASE
        WHEN p.status = 'rounded'
            AND p.as_of = {{ version }}
{% for m in measures %}
            AND MOD(p.m{{ loop.index }}, {{ base }}) = 0
            AND ABS(p.m{{ loop.index }} - c.{{ counted }}) < {{ base }}
            AND p.lower{{ loop.index }} = CASE
                WHEN p.m{{ loop.index }} < {{ base }} THEN 1
                ELSE p.m{{ loop.index }} - {{ base - 1 }}
            END
            AND p.upper{{ loop.index }} = p.m{{ loop.index }} + {{ base - 1 }}
{% endfor %}
            THEN 0
        ELSE 1
    END AS wrong
    , p.lower1 AS lower
    , p.upper1 AS upper
FROM {{ cells | table }} AS c
FULL JOIN {{ published | table }} AS p
    ON
        {{ same_cell(columns, "p", "c") }}
