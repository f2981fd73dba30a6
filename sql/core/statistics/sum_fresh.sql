-- name: statistics/sum_fresh
-- params: fresh (table to make), keyed (table, as statistics/verify_rows makes it), atoms
--   (table), columns (list of {levels}), sums (list of {place})
-- returns: the staged rows with the kept numbers of their atoms, as statistics/rows has them
{% from "core/statistics/cells.jinja" import columns_of_levels %}
CREATE {{ fresh | scratch }} AS
SELECT
    a.atom AS atom
    , t.person AS person
{% for s in sums %}
    , t.s{{ s.place }} AS s{{ s.place }}
{% endfor %}
{{ columns_of_levels(columns, "t") }}
FROM {{ keyed | table }} AS t
JOIN {{ atoms | table }} AS a
    ON {% for c in columns %}{{ " AND " if not loop.first }}a.v{{ loop.index }}_0 = t.v{{ loop.index }}_0{% endfor %}

