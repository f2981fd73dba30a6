-- name: statistics/batch_view
-- params: view (table to make), cells (private table with batches), columns (list of {name, level (name)}), measures (list of {name, column}), sums (list
--   of {place, name, unit, type}), batch (number of a version)
-- returns: the new rows of a version as if they were published: of each cell its values as texts, levels, measures and sums (NULL where it is hidden), status, as_of
CREATE {{ view | scratch }} AS
SELECT
{% for c in columns %}
    {{ ", " if not loop.first }}CASE WHEN k.k{{ loop.index }} NOT IN ('*', 'n') THEN SUBSTRING(k.k{{ loop.index }}, 2) END AS {{ c.name | ident }}
    , k.l{{ loop.index }} AS {{ c.level | ident }}
{% endfor %}
{% for m in measures %}
    , CASE WHEN k.hidden = 0 THEN CAST(k.{{ m.column }} AS BIGINT) END AS {{ m.name | ident }}
{% endfor %}
{% for s in sums %}
    , CASE WHEN k.hidden = 0 THEN CAST(k.s{{ s.place }} * {{ s.unit }} AS {{ s.type }}) END AS {{ s.name | ident }}
{% endfor %}
    , CASE WHEN k.hidden = 0 THEN 'shown' ELSE 'hidden' END AS status
    , {{ batch }} AS as_of
FROM {{ cells | table }} AS k
WHERE k.batch = {{ batch }}
