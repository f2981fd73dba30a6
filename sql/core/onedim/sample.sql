-- name: onedim/sample
-- params: work (table), picked (table of place), quasi (QI code columns)
-- returns: one column per QI code: the rows at the picked places, from 0, of the work table by QI codes
SELECT {% for column in quasi %}{{ ", " if not loop.first }}o.{{ column }} AS {{ column }}{% endfor %}

FROM (
    SELECT
        CAST(ROW_NUMBER() OVER (
            ORDER BY {% for column in quasi %}{{ ", " if not loop.first }}w.{{ column }}{% endfor %}
        ) - 1 AS INTEGER) AS place
{% for column in quasi %}
        , w.{{ column }} AS {{ column }}
{% endfor %}
    FROM {{ work | table }} AS w
) AS o
JOIN {{ picked | table }} AS p ON p.place = o.place
