-- name: statistics/view_of_batches
-- params: physical (table to make), cells (private table with batches), columns (list of {name, level (name),
--   type, levels}), measures (list of {name, low, high, tight, column}), sums (list of {place, name, low_name,
--   high_name, tight_name, unit, type}), bounds (bool), batches (numbers of versions, ascending), version
-- returns: the published table: each cell that any version has, with the numbers of its rows up to
--   the first version whose own rows are hidden in it; hidden where that is the first version of
--   the cell; as_of is the version of the numbers, and of a hidden cell the last one; bounds are
--   of the numbers of the last version: the sums of those of all versions, and tight where all are
{% from "core/statistics/cells.jinja" import columns_of_cell, same_cell %}
{% macro value(c, i) %}
CASE WHEN g.l{{ i }} < {{ c.levels }} AND g.k{{ i }} <> 'n' THEN CAST(SUBSTRING(g.k{{ i }}, 2) AS {{ c.type }}) END
{% endmacro %}
CREATE TABLE {{ physical | table }} AS
SELECT
{% for c in columns %}
    {{ ", " if not loop.first }}{{ value(c, loop.index) }} AS {{ c.name | ident }}
    , g.l{{ loop.index }} AS {{ c.level | ident }}
{% endfor %}
{% for m in measures %}
    , CASE WHEN g.ended IS NULL OR g.ended > g.begun THEN CAST(g.total AS BIGINT) END AS {{ m.name | ident }}
{% if bounds %}
    , CAST(g.low AS BIGINT) AS {{ m.low | ident }}
    , CASE WHEN g.open = 0 THEN CAST(g.high AS BIGINT) END AS {{ m.high | ident }}
    , g.tight = 1 AS {{ m.tight | ident }}
{% endif %}
{% endfor %}
{% for s in sums %}
    , CASE
        WHEN g.ended IS NULL OR g.ended > g.begun THEN CAST(g.s{{ s.place }} * {{ s.unit }} AS {{ s.type }})
    END AS {{ s.name | ident }}
{% if bounds %}
    , CASE
        WHEN g.below{{ s.place }} = 0 THEN CAST(g.low{{ s.place }} * {{ s.unit }} AS {{ s.type }})
    END AS {{ s.low_name | ident }}
    , CASE
        WHEN g.above{{ s.place }} = 0 THEN CAST(g.high{{ s.place }} * {{ s.unit }} AS {{ s.type }})
    END AS {{ s.high_name | ident }}
    , g.tight{{ s.place }} = 1 AS {{ s.tight_name | ident }}
{% endif %}
{% endfor %}
    , CASE WHEN g.ended IS NULL OR g.ended > g.begun THEN 'shown' ELSE 'hidden' END AS status
    , CASE
{% for batch in batches[1:] %}
        WHEN g.ended = {{ batch }} AND g.ended > g.begun THEN {{ batches[loop.index0] }}
{% endfor %}
        WHEN TRUE THEN {{ version }}
    END AS as_of
FROM (
    SELECT
        MIN(c.batch) AS begun
        , MIN(e.ended) AS ended
        , SUM(CASE WHEN e.ended IS NULL OR c.batch < e.ended THEN c.n ELSE 0 END) AS total
{% for s in sums %}
        , CAST(
            SUM(CASE WHEN e.ended IS NULL OR c.batch < e.ended THEN c.s{{ s.place }} ELSE 0 END) AS BIGINT
        ) AS s{{ s.place }}
{% endfor %}
{% if bounds %}
        , SUM(c.low) AS low
        , SUM(c.high) AS high
        , SUM(CASE WHEN c.high < 0 THEN 1 ELSE 0 END) AS open
        , MIN(c.tight) AS tight
{% for s in sums %}
        , CAST(
            SUM(CASE WHEN c.low{{ s.place }} > -4611686018427387904 THEN c.low{{ s.place }} ELSE 0 END) AS BIGINT
        ) AS low{{ s.place }}
        , CAST(
            SUM(CASE WHEN c.high{{ s.place }} < 4611686018427387904 THEN c.high{{ s.place }} ELSE 0 END) AS BIGINT
        ) AS high{{ s.place }}
        , SUM(CASE WHEN c.low{{ s.place }} > -4611686018427387904 THEN 0 ELSE 1 END) AS below{{ s.place }}
        , SUM(CASE WHEN c.high{{ s.place }} < 4611686018427387904 THEN 0 ELSE 1 END) AS above{{ s.place }}
        , MIN(c.tight{{ s.place }}) AS tight{{ s.place }}
{% endfor %}
{% endif %}
{{ columns_of_cell(columns, "c") }}
    FROM {{ cells | table }} AS c
    LEFT JOIN (
        SELECT
            MIN(d.batch) AS ended
{{ columns_of_cell(columns, "d") }}
        FROM {{ cells | table }} AS d
        WHERE d.hidden = 1
        GROUP BY {% for c in columns %}{{ ", " if not loop.first }}d.l{{ loop.index }}, d.k{{ loop.index }}{% endfor %}

    ) AS e ON
        {{ same_cell(columns, "e", "c") }}
    GROUP BY {% for c in columns %}{{ ", " if not loop.first }}c.l{{ loop.index }}, c.k{{ loop.index }}{% endfor %}

) AS g
ORDER BY
    {% for c in columns %}{{ ", " if not loop.first }}g.l{{ loop.index }} DESC{% endfor %}
{% for c in columns %}
    , g.k{{ loop.index }}
{% endfor %}