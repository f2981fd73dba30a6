-- name: statistics/base_atoms
-- params: base (table to make), atoms (private table of a version, with batches), columns (list)
-- returns: of each finest combination that versions before have its finest keys v<column>_0, and n bigint: how many rows it has in them
CREATE {{ base | scratch }} AS
SELECT CAST(SUM(a.n) AS BIGINT) AS n{% for c in columns %}, a.v{{ loop.index }}_0 AS v{{ loop.index }}_0{% endfor %}

FROM {{ atoms | table }} AS a
GROUP BY {% for c in columns %}{{ ", " if not loop.first }}a.v{{ loop.index }}_0{% endfor %}
