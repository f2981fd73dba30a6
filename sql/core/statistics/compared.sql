-- name: statistics/compared
-- params: compared (table to make), published (as statistics/published makes it), cells
--   (tables), columns (list), measures (list of {column, place, bounded (bool)}), sums (list
--   of {place}), bounds (bool), tight (bool), counted (n or persons), threshold, version
-- returns: cell bigint (NULL: no such cell), value bigint (the true one), n and persons bigint, small, hidden
--   integer (1 or 0), times integer (rows of the cell; NULL: it is not published), wrong integer (1: the row
--   contradicts the cell, its status, or the rules of shown and hidden cells), the published bounds
--   lower<measure> and upper<measure>, those of the first of rows as lower and upper, and of each sum the true
--   one and its published bounds; with tight also whether the bounds are said to be tight, tight<measure>
{% from "core/statistics/cells.jinja" import same_cell %}
CREATE {{ compared | scratch }} AS
SELECT
    c.cell AS cell
    , c.{{ counted }} AS value
    , c.n AS n
    , c.persons AS persons
    , CASE WHEN c.persons < {{ threshold }} THEN 1 ELSE 0 END AS small
    , CASE WHEN p.status = 'hidden' THEN 1 ELSE 0 END AS hidden
    , CASE WHEN p.status IS NOT NULL THEN 1 END AS times
    , CASE
        WHEN p.status = 'shown'
            AND c.persons >= {{ threshold }}
            AND p.as_of = {{ version }}
{% for m in measures %}
                AND p.m{{ loop.index }} = c.{{ m.column }}
{% if bounds %}
                    AND p.lower{{ loop.index }} = c.{{ m.column }}
                    AND p.upper{{ loop.index }} = c.{{ m.column }}
{% endif %}
{% if tight %}
                AND p.tight{{ loop.index }} = 1
{% endif %}
{% endfor %}
{% for s in sums %}
{% set i = s.place %}
            AND p.x{{ i }} = c.s{{ i }}
{% if bounds %}
                AND p.least{{ i }} = c.s{{ i }}
                AND p.most{{ i }} = c.s{{ i }}
{% endif %}
{% if tight %}
            AND p.sure{{ i }} = 1
{% endif %}
{% endfor %}
            THEN 0
        WHEN p.status = 'hidden'
            AND p.as_of = {{ version }}
{% for m in measures %}
                AND p.m{{ loop.index }} IS NULL
{% if bounds %}
                AND p.lower{{ loop.index }} >= 1
                AND p.lower{{ loop.index }} <= c.{{ m.column }}
                AND (p.upper{{ loop.index }} IS NULL OR p.upper{{ loop.index }} >= c.{{ m.column }})
{% endif %}
{% endfor %}
{% for s in sums %}
{% set i = s.place %}
            AND p.x{{ i }} IS NULL
{% if bounds %}
            AND (p.least{{ i }} IS NULL OR p.least{{ i }} <= c.s{{ i }})
            AND (p.most{{ i }} IS NULL OR p.most{{ i }} >= c.s{{ i }})
{% endif %}
{% endfor %}
            THEN 0
        ELSE 1
    END AS wrong
{% if bounds %}
{% for m in measures if m.bounded %}
    , p.lower{{ m.place }} AS lower
    , p.upper{{ m.place }} AS upper
{% endfor %}
{% for m in measures %}
    , p.lower{{ loop.index }} AS lower{{ loop.index }}
    , p.upper{{ loop.index }} AS upper{{ loop.index }}
{% endfor %}
{% endif %}
{% if tight %}
{% for m in measures %}
    , p.tight{{ loop.index }} AS tight{{ loop.index }}
{% endfor %}
{% endif %}
{% for s in sums %}
    , c.s{{ s.place }} AS s{{ s.place }}
{% if bounds %}
    , p.least{{ s.place }} AS least{{ s.place }}
    , p.most{{ s.place }} AS most{{ s.place }}
{% endif %}
{% if tight %}
    , p.sure{{ s.place }} AS sure{{ s.place }}
{% endif %}
{% endfor %}
FROM {{ cells | table }} AS c
FULL JOIN {{ published | table }} AS p
    ON
        {{ same_cell(columns, "p", "c") }}
