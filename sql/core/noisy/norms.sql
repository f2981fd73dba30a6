-- name: noisy/norms
-- params: bounded (table, as noisy/bounded makes it), nodes (table of cell and l0.., the group of
--   each level), level, norms (list of {part (see `sqlanon.noisy.shape.Part`, or weighed: persons
--   by weight), alias (number of the measure's columns), middle (twice that of its range), l1, l2
--   (whole numbers, which bound a person's sum of absolute values and of squares)})
-- returns: how many persons change one of the sums by more than its norm says
{% macro value(one) %}
{% if one.part == "persons" %}
1
{% elif one.part == "weighed" %}
SUM(b.p)
{% elif one.part == "rows" %}
SUM(b.n)
{% elif one.part == "values" %}
SUM(b.v{{ one.alias }})
{% elif one.part == "sum" %}
SUM(b.s{{ one.alias }})
{% else %}
2 * SUM(b.s{{ one.alias }}) - SUM(b.v{{ one.alias }}) * ({{ one.middle }})
{% endif %}
{% endmacro %}
SELECT COUNT(*)
FROM (
    SELECT g.person AS person
    FROM (
        SELECT
            b.person AS person
            , m.l{{ level }} AS node
{% for one in norms %}
            , CAST({{ value(one) }} AS DECIMAL(38, 0)) AS x{{ loop.index }}
{% endfor %}
        FROM {{ bounded | table }} AS b
        JOIN {{ nodes | table }} AS m ON m.cell = b.cell
        GROUP BY b.person, m.l{{ level }}
    ) AS g
    GROUP BY g.person
    HAVING
{% for one in norms %}
        {{ " OR " if not loop.first }}SUM(ABS(g.x{{ loop.index }})) > {{ one.l1 }}
        OR SUM(g.x{{ loop.index }} * g.x{{ loop.index }}) > {{ one.l2 }}
{% endfor %}
) AS violated
