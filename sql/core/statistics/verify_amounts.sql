-- name: statistics/verify_amounts
-- params: amounts, atoms (private tables with batches), columns (list), sums (list of
--   {place}), neighbour (list, or none: atoms are parts of finest combinations)
-- returns: failing bigint: finest combinations of a version that do not have the rows and
--   the sums that the amounts of their rows say
SELECT COUNT(*) AS failing
FROM (
    SELECT
        m.batch AS batch
        , SUM(m.n) AS n{% for s in sums %}, SUM(m.n * m.s{{ s.place }}) AS s{{ s.place }}{% endfor %}

{% for c in columns %}
        , m.v{{ loop.index }}_0 AS v{{ loop.index }}_0
{% endfor %}
    FROM {{ amounts | table }} AS m
    GROUP BY m.batch{% for c in columns %}, m.v{{ loop.index }}_0{% endfor %}

) AS f
FULL JOIN {% if neighbour is defined %}(
    SELECT
        p.batch AS batch
        , SUM(p.n) AS n{% for s in sums %}, MIN(p.s{{ s.place }}) AS s{{ s.place }}{% endfor %}

{% for c in columns %}
        , p.v{{ loop.index }}_0 AS v{{ loop.index }}_0
{% endfor %}
    FROM {{ atoms | table }} AS p
    GROUP BY p.batch{% for c in columns %}, p.v{{ loop.index }}_0{% endfor %}

){% else %}{{ atoms | table }}{% endif %} AS a ON a.batch = f.batch
    AND a.n = f.n{% for s in sums %} AND a.s{{ s.place }} = f.s{{ s.place }}{% endfor %}

{% for c in columns %}
    AND a.v{{ loop.index }}_0 = f.v{{ loop.index }}_0
{% endfor %}
WHERE f.n IS NULL OR a.n IS NULL
