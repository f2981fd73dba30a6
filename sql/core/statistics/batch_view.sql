-- name: statistics/batch_view
-- params: view (table to make), cells (private table with batches), columns (list of {name, level
--   (name)}), measures (list of {name, low, high, tight, column}), sums (list of {place, name,
--   low_name, high_name, tight_name, unit, type}), bounds (bool), batch (number of a version)
-- returns: the new rows of a version as if they were published: of each cell its values as
--   texts, levels, measures and sums (NULL where it is hidden), their bounds, status, as_of
CREATE {{ view | scratch }} AS
SELECT
{% for c in columns %}
    {{ ", " if not loop.first }}CASE
        WHEN k.k{{ loop.index }} NOT IN ('*', 'n') THEN SUBSTRING(k.k{{ loop.index }}, 2)
    END AS {{ c.name | ident }}
    , k.l{{ loop.index }} AS {{ c.level | ident }}
{% endfor %}
{% for m in measures %}
    , CASE WHEN k.hidden = 0 THEN CAST(k.{{ m.column }} AS BIGINT) END AS {{ m.name | ident }}
{% if bounds %}
    , k.low AS {{ m.low | ident }}
    , CASE WHEN k.high >= 0 THEN k.high END AS {{ m.high | ident }}
    , k.tight = 1 AS {{ m.tight | ident }}
{% endif %}
{% endfor %}
{% for s in sums %}
    , CASE WHEN k.hidden = 0 THEN CAST(k.s{{ s.place }} * {{ s.unit }} AS {{ s.type }}) END AS {{ s.name | ident }}
{% if bounds %}
    , CASE
        WHEN k.low{{ s.place }} > -4611686018427387904 THEN CAST(k.low{{ s.place }} * {{ s.unit }} AS {{ s.type }})
    END AS {{ s.low_name | ident }}
    , CASE
        WHEN k.high{{ s.place }} < 4611686018427387904 THEN CAST(k.high{{ s.place }} * {{ s.unit }} AS {{ s.type }})
    END AS {{ s.high_name | ident }}
    , k.tight{{ s.place }} = 1 AS {{ s.tight_name | ident }}
{% endif %}
{% endfor %}
    , CASE WHEN k.hidden = 0 THEN 'shown' ELSE 'hidden' END AS status
    , {{ batch }} AS as_of
FROM {{ cells | table }} AS k
WHERE k.batch = {{ batch }}
