-- name: suppress/attach
-- params: assign (table to make), work (table), places (table of the words, the sensitive codes, cell,
--   after, upto, class, divided: rows after+1 to upto of a cell are in class), words (list of lists of
--   {code, times}), sensitive (SA code columns), divided (bool: some cells have more than one class)
-- returns: rid integer, class integer
{% macro same(p) %}
{% for word in words %}
    {{ " AND " if not loop.first }}{{ p }}.key{{ loop.index }} =
{% for c in word %}
        {{ " + " if not loop.first }}CAST(w.{{ c.code }} AS BIGINT) * CAST({{ c.times }} AS BIGINT)
{% endfor %}
{% endfor %}
{% for s in sensitive %}
    AND {{ p }}.{{ s }} = w.{{ s }}
{% endfor %}
{% endmacro %}
CREATE {{ assign | scratch }} AS
SELECT w.rid AS rid, p.class AS class
FROM {{ work | table }} AS w
JOIN (SELECT o.* FROM {{ places | table }} AS o WHERE o.divided = 0) AS p ON {{ same("p") }}
{% if divided %}
UNION ALL
SELECT t.rid AS rid, m.class AS class
FROM (
    SELECT w.rid AS rid, d.cell AS cell, ROW_NUMBER() OVER (PARTITION BY d.cell ORDER BY w.rid) AS turn
    FROM {{ work | table }} AS w
    JOIN (SELECT o.* FROM {{ places | table }} AS o WHERE o.divided = 1 AND o.after = 0) AS d ON {{ same("d") }}
) AS t
JOIN {{ places | table }} AS m ON m.cell = t.cell AND t.turn > m.after AND t.turn <= m.upto
{% endif %}
