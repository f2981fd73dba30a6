-- name: statistics/verify_growth
-- params: keyed (table, as statistics/verify_rows makes it, of all staged rows), atoms
--   (private table with batches; with sums that of the amounts), columns (list), sums (list
--   of {place}), neighbour (list, or none: atoms are parts, of which some may be empty)
-- returns: failing bigint: finest combinations whose rows in the source are not those of
--   all versions together, and combinations without rows
SELECT COUNT(*) AS failing
FROM (
    SELECT
        COUNT(*) AS n{% for c in columns %}, k.v{{ loop.index }}_0 AS v{{ loop.index }}_0{% endfor %}

{% for s in sums %}
        , k.s{{ s.place }} AS s{{ s.place }}
{% endfor %}
    FROM {{ keyed | table }} AS k
    GROUP BY
        {% for c in columns %}{{ ", " if not loop.first }}k.v{{ loop.index }}_0{% endfor %}
{% for s in sums %}
        , k.s{{ s.place }}
{% endfor %}
) AS f
FULL JOIN (
    SELECT
        SUM(a.n) AS n
        , {{ "MIN(CASE WHEN a.kind IS NULL THEN a.n ELSE a.n + 1 END)" if neighbour is defined and not sums
            else "MIN(a.n)" }} AS least
{% for c in columns %}
        , a.v{{ loop.index }}_0 AS v{{ loop.index }}_0
{% endfor %}
{% for s in sums %}
        , a.s{{ s.place }} AS s{{ s.place }}
{% endfor %}
    FROM {{ atoms | table }} AS a
    GROUP BY
        {% for c in columns %}{{ ", " if not loop.first }}a.v{{ loop.index }}_0{% endfor %}
{% for s in sums %}
        , a.s{{ s.place }}
{% endfor %}
) AS t ON {% for c in columns %}{{ " AND " if not loop.first }}t.v{{ loop.index }}_0 = f.v{{ loop.index }}_0{% endfor %}

{% for s in sums %}
    AND t.s{{ s.place }} = f.s{{ s.place }}
{% endfor %}
WHERE f.n IS NULL OR t.n IS NULL OR f.n <> t.n OR t.least < 1
