-- name: persons/units
-- params: units (table to make), work (table), turns (table of person, rid), person (code
--   column of the persons), columns (code columns of quasi columns), values (list of
--   {code, table}: code columns of sensitive columns, each with a table of person, value)
-- returns: one row a person: rid integer (as in turns), person integer, of each column the least code of the person's
--   rows, called as the column, and the greatest, with h after the name; and the person's code of each of values
CREATE {{ units | scratch }} AS
SELECT
    o.rid AS rid
    , g.person AS person{% for c in columns %}, g.{{ c }} AS {{ c }}, g.{{ c }}h AS {{ c }}h{% endfor %}

{% for v in values %}
    , v{{ loop.index }}.value AS {{ v.code }}
{% endfor %}
FROM (
    SELECT
        w.{{ person }} AS person
{% for c in columns %}
        , MIN(w.{{ c }}) AS {{ c }}
        , MAX(w.{{ c }}) AS {{ c }}h
{% endfor %}
    FROM {{ work | table }} AS w
    GROUP BY w.{{ person }}
) AS g
JOIN {{ turns | table }} AS o ON o.person = g.person
{% for v in values %}
JOIN {{ v.table | table }} AS v{{ loop.index }} ON v{{ loop.index }}.person = g.person
{% endfor %}
