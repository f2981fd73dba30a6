-- name: fulldomain/assign
-- params: assign (table to make), work, pieces (tables), columns (code columns that make a cell), divided (bool:
--   the rows of a cell are in several classes: pieces has first and past, of the rows of the cell from 1 on)
-- returns: rid integer, class integer; rows of cells that pieces lacks are in no class
CREATE {{ assign | scratch }} AS
SELECT w.rid AS rid, p.class AS class
{% if divided %}
FROM (
    SELECT
        r.rid AS rid
        ,
{% for column in columns %}
        r.{{ column }} AS {{ column }},
{% endfor %}
        ROW_NUMBER() OVER (
            PARTITION BY {% for column in columns %}{{ ", " if not loop.first }}r.{{ column }}{% endfor %}
            ORDER BY r.rid
        ) AS place
    FROM {{ work | table }} AS r
) AS w
{% else %}
FROM {{ work | table }} AS w
{% endif %}
JOIN {{ pieces | table }} AS p ON
{% for column in columns %}
    {{ " AND " if not loop.first }}p.{{ column }} = w.{{ column }}
{% endfor %}
{% if divided %}
 AND w.place >= p.first AND w.place < p.past
{% endif %}

