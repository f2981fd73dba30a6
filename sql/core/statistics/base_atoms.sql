-- name: statistics/base_atoms
-- params: base (table to make), atoms (private table of a version, with batches; with sums
--   that of the amounts), columns (list), sums (list of {place})
-- returns: of each finest combination that versions before have its finest keys v<column>_0,
--   the amounts s<sum> of its rows, and n bigint: how many such rows it has in them
CREATE {{ base | scratch }} AS
SELECT
    CAST(SUM(a.n) AS BIGINT) AS n{% for c in columns %}, a.v{{ loop.index }}_0 AS v{{ loop.index }}_0{% endfor %}

{% for s in sums %}
    , a.s{{ s.place }} AS s{{ s.place }}
{% endfor %}
FROM {{ atoms | table }} AS a
GROUP BY
    {% for c in columns %}{{ ", " if not loop.first }}a.v{{ loop.index }}_0{% endfor %}
{% for s in sums %}
    , a.s{{ s.place }}
{% endfor %}
