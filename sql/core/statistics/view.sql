-- name: statistics/view
-- params: physical (table to make), cells (table, as statistics/cells makes it), hidden (table of
--   cell and bounds), columns (list of {name, level (name), type, levels}), measures (list of {name,
--   low, high, tight, bottom, top and sure (columns of hidden), column (n or persons)}), sums (list
--   of {place, name, low_name, high_name, tight_name, unit, type}), bounds (bool), version
-- returns: the published table: each cell with its levels (0: the value; the number of levels: the total,
--   where the value is NULL), the measures with NULL where they are hidden, their bounds and whether these are
--   tight, status (shown or hidden) and as_of (the version of the value); in the order of levels and values
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
    , CASE WHEN h.cell IS NULL THEN CAST(c.{{ m.column }} AS BIGINT) END AS {{ m.name | ident }}
{% if bounds %}
    , CASE WHEN h.cell IS NULL THEN CAST(c.{{ m.column }} AS BIGINT) ELSE h.{{ m.bottom }} END AS {{ m.low | ident }}
    , CASE
        WHEN h.cell IS NULL THEN CAST(c.{{ m.column }} AS BIGINT)
        WHEN h.{{ m.top }} >= 0 THEN h.{{ m.top }}
    END AS {{ m.high | ident }}
    , h.cell IS NULL OR h.{{ m.sure }} = 1 AS {{ m.tight | ident }}
{% endif %}
{% endfor %}
{% for s in sums %}
    , CASE WHEN h.cell IS NULL THEN CAST(c.s{{ s.place }} * {{ s.unit }} AS {{ s.type }}) END AS {{ s.name | ident }}
{% if bounds %}
    , CASE
        WHEN h.cell IS NULL THEN CAST(c.s{{ s.place }} * {{ s.unit }} AS {{ s.type }})
        WHEN h.low{{ s.place }} > -4611686018427387904 THEN CAST(h.low{{ s.place }} * {{ s.unit }} AS {{ s.type }})
    END AS {{ s.low_name | ident }}
    , CASE
        WHEN h.cell IS NULL THEN CAST(c.s{{ s.place }} * {{ s.unit }} AS {{ s.type }})
        WHEN h.high{{ s.place }} < 4611686018427387904 THEN CAST(h.high{{ s.place }} * {{ s.unit }} AS {{ s.type }})
    END AS {{ s.high_name | ident }}
    , h.cell IS NULL OR h.tight{{ s.place }} = 1 AS {{ s.tight_name | ident }}
{% endif %}
{% endfor %}
    , CASE WHEN h.cell IS NULL THEN 'shown' ELSE 'hidden' END AS status
    , {{ version }} AS as_of
FROM {{ cells | table }} AS c
LEFT JOIN {{ hidden | table }} AS h ON h.cell = c.cell
ORDER BY
    {% for c in columns %}{{ ", " if not loop.first }}c.l{{ loop.index }} DESC{% endfor %}
{% for c in columns %}
    , c.k{{ loop.index }}
{% endfor %}
