-- name: statistics/past_small
-- params: small (table to make), atoms (as statistics/past_atoms makes it), columns (list of {levels}),
--   margins, tables (list of {columns (places, from 1), margins}), counted (n or persons), threshold
-- returns: the cells of few persons, of the rows of each version and of some versions in a row: since,
--   upto bigint, levels and keys, value bigint, sole bigint (a combination, the only one if atoms is 1),
--   atoms bigint, least bigint (the most finest cells of a table within, of each version by themselves)
{% from "core/statistics/cells.jinja" import columns_of_cell, levels_and_keys, margin_sets, same_cell, windows %}
CREATE {{ small | scratch }} AS
SELECT
    g.since AS since
    , g.upto AS upto
    , g.value AS value
    , g.sole AS sole
    , g.atoms AS atoms
    , MAX(m.least) AS least
{{ columns_of_cell(columns, "g") }}
FROM (
    SELECT
        w.since AS since
        , w.upto AS upto
        , CAST(SUM(a.{{ counted }}) AS BIGINT) AS value
        , SUM(a.persons) AS persons
        , MIN(a.whole) AS sole
        , COUNT(DISTINCT a.whole) AS atoms
{{ levels_and_keys(columns, "a") }}
    FROM {{ atoms | table }} AS a
    JOIN {{ windows(atoms) }} AS w ON a.batch >= w.since AND a.batch <= w.upto
    GROUP BY {{ margin_sets(columns, margins, "a", "w.since, w.upto") }}
) AS g
JOIN (
{% for t in tables %}
{{ "UNION ALL" if not loop.first }}
    SELECT
        w.since AS since
        , w.upto AS upto
        , COUNT(*) AS least
{% for c in columns %}
{% set i = loop.index %}
{% if i in t.columns %}
        , CASE
{% for level in range(c.levels) %}
            WHEN a.v{{ i }}_{{ level }} IS NOT NULL THEN {{ level }}
{% endfor %}
            ELSE {{ c.levels }}
        END AS l{{ i }}
        , COALESCE({% for level in range(c.levels) %}a.v{{ i }}_{{ level }}, {% endfor %}'*') AS k{{ i }}
{% else %}
        , {{ c.levels }} AS l{{ i }}
        , '*' AS k{{ i }}
{% endif %}
{% endfor %}
    FROM (
        SELECT DISTINCT
            d.batch AS batch
{% for i in t.columns %}
{% for level in range(columns[i - 1].levels) %}
            , d.v{{ i }}_{{ level }} AS v{{ i }}_{{ level }}
{% endfor %}
{% endfor %}
        FROM {{ atoms | table }} AS d
    ) AS a
    JOIN {{ windows(atoms) }} AS w ON a.batch >= w.since AND a.batch <= w.upto
    GROUP BY {{ margin_sets(columns, t.margins, "a", "w.since, w.upto") }}
{% endfor %}
) AS m ON m.since = g.since
    AND m.upto = g.upto
    AND {{ same_cell(columns, "m", "g") }}
WHERE g.persons < {{ threshold }}
GROUP BY
    g.since, g.upto, g.value, g.sole, g.atoms
{% for c in columns %}
    , g.l{{ loop.index }}, g.k{{ loop.index }}
{% endfor %}
