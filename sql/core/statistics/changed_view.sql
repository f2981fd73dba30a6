-- name: statistics/changed_view
-- params: physical (table to make), cells (table), changed (table of cell, value, low,
--   high), columns (list of {name, level (name), type, levels}), measures (list of {name,
--   low, high}), kind (SQL type of the numbers), status (a word), version
-- returns: the published table: each cell with its levels (0: the value; the number of
--   levels: the total, where the value is NULL), the changed measures, the bounds of the
--   true ones, status and as_of; in the order of levels and values
{% macro value(c, i) %}
CASE WHEN c.l{{ i }} < {{ c.levels }} AND c.k{{ i }} <> 'n' THEN CAST(SUBSTRING(c.k{{ i }}, 2) AS {{ c.type }}) END
{% endmacro %}
CREATE TABLE {{ physical | table }} AS
SELECT
{% for c in columns %}
    {{ ", " if not loop.first }}{{ value(c, loop.index) }} AS {{ c.name | ident }}
    , c.l{{ loop.index }} AS {{ c.level | ident }}
{% endfor %}
{% for m in measures %}
    , CAST(h.value AS {{ kind }}) AS {{ m.name | ident }}
    , h.low AS {{ m.low | ident }}
    , h.high AS {{ m.high | ident }}
{% endfor %}
    , '{{ status }}' AS status
    , {{ version }} AS as_of
FROM {{ cells | table }} AS c
JOIN {{ changed | table }} AS h ON h.cell = c.cell
ORDER BY
    {% for c in columns %}{{ ", " if not loop.first }}c.l{{ loop.index }} DESC{% endfor %}
{% for c in columns %}
    , c.k{{ loop.index }}
{% endfor %}
