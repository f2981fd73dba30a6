-- name: datacube/divergence
-- params: cells, released (tables), columns (list of {number, spread}: the group-by's columns in the order
--   in which they are spread; spread is none where the release holds exact codes), runs (table of part,
--   low, high, size for the last column, which is then not spread; or none), rows, released_rows (totals)
-- returns: kld double (over the cells that Q reaches), cells, missed bigint (cells with P
--   > 0 and Q = 0), missed_rows bigint (rows in them)
-- A class is spread one column after the other, and what falls on no cell of the source is dropped at once:
-- the product of the domains is never built. From the second column on, the cells' own first columns say
-- what can still be reached. Runs are summed up in the order of the codes: each adds its share at its first
-- code and takes it away after its last. Where none is left, the sum is 0 whatever doubles make of it.
{% macro codes(t, upto) %}{% for c in columns[:upto] %}{{ t }}.c{{ c.number }}, {% endfor %}{% endmacro %}
{% macro parts(t, start) %}{% for c in columns[start:] %}{{ t }}.p{{ c.number }}, {% endfor %}{% endmacro %}
{% set exact = columns[0].spread is none %}
{% set count = columns | length %}
{% set last = columns[-1].number %}
{% macro prefix(t) %}{{ codes(t, count - 1) }}{{ t }}.s{% endmacro %}
WITH truth AS (
    SELECT {{ codes("t", count) }}t.s AS s, CAST(SUM(t.n) AS DOUBLE) AS n
    FROM {{ cells | table }} AS t
    GROUP BY {{ codes("t", count) }}t.s
)
{% if exact %}
, x{{ count }} AS (
    SELECT {{ codes("r", count) }}r.s AS s, CAST(SUM(r.n) AS DOUBLE) AS m
    FROM {{ released | table }} AS r
    GROUP BY {{ codes("r", count) }}r.s
)
{% else %}
, x0 AS (
    SELECT {{ parts("r", 0) }}r.s AS s, CAST(SUM(r.n) AS DOUBLE) AS m
    FROM {{ released | table }} AS r
    GROUP BY {{ parts("r", 0) }}r.s
)
{% for c in columns %}
{% set i = loop.index %}
{% if not (runs and loop.last) %}
, x{{ i }} AS (
    SELECT {{ codes("x", i - 1) }}w.code AS c{{ c.number }}, {{ parts("x", i) }}x.s AS s, SUM(x.m * w.share) AS m
    FROM x{{ i - 1 }} AS x
    JOIN {{ c.spread | table }} AS w ON w.part = x.p{{ c.number }}
{% if i > 1 and count > 2 %}
    JOIN (
        SELECT DISTINCT {{ codes("t", i) }}t.s FROM truth AS t
    ) AS k ON k.s = x.s
        AND k.c{{ c.number }} = w.code
{% for d in columns[:i - 1] %}
        AND k.c{{ d.number }} = x.c{{ d.number }}
{% endfor %}
{% endif %}
    GROUP BY {{ codes("x", i - 1) }}w.code, {{ parts("x", i) }}x.s
)
{% endif %}
{% endfor %}
{% if runs %}
, events AS (
    SELECT {{ prefix("x") }} AS s, CAST(w.low AS BIGINT) AS place, 0 AS asked, x.m / w.size AS d, 1 AS k
    FROM x{{ count - 1 }} AS x
    JOIN {{ runs | table }} AS w ON w.part = x.p{{ last }}
    UNION ALL
    SELECT {{ prefix("x") }} AS s, CAST(w.high AS BIGINT) + 1 AS place, 0 AS asked, -x.m / w.size AS d, -1 AS k
    FROM x{{ count - 1 }} AS x
    JOIN {{ runs | table }} AS w ON w.part = x.p{{ last }}
    UNION ALL
    SELECT {{ prefix("t") }} AS s, CAST(t.c{{ last }} AS BIGINT) AS place, 1 AS asked, CAST(0 AS DOUBLE) AS d, 0 AS k
    FROM truth AS t
)
, placed AS (
    SELECT {{ prefix("e") }} AS s, e.place AS place, e.asked AS asked, SUM(e.d) AS d, SUM(e.k) AS k
    FROM events AS e
    GROUP BY {{ prefix("e") }}, e.place, e.asked
)
, swept AS (
    SELECT
        {{ prefix("e") }} AS s
        , e.place AS place
        , e.asked AS asked
        , SUM(e.d) OVER (
            PARTITION BY {{ prefix("e") }} ORDER BY e.place, e.asked ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
        ) AS m
        , SUM(e.k) OVER (
            PARTITION BY {{ prefix("e") }} ORDER BY e.place, e.asked ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
        ) AS k
    FROM placed AS e
)
, x{{ count }} AS (
    SELECT {{ prefix("e") }} AS s, e.place AS c{{ last }}, CASE WHEN e.k > 0 THEN e.m ELSE 0 END AS m
    FROM swept AS e
    WHERE e.asked = 1
)
{% endif %}
{% endif %}
SELECT
    CAST(COALESCE(
        SUM(CASE WHEN q.m > 0 THEN t.n / {{ rows }} * LN(t.n / {{ rows }} / (q.m / {{ released_rows }})) END), 0
    ) AS DOUBLE) AS kld
    , COUNT(*) AS cells
    , CAST(COALESCE(SUM(CASE WHEN q.m > 0 THEN 0 ELSE 1 END), 0) AS BIGINT) AS missed
    , CAST(COALESCE(SUM(CASE WHEN q.m > 0 THEN 0 ELSE t.n END), 0) AS BIGINT) AS missed_rows
FROM truth AS t
LEFT JOIN x{{ count }} AS q ON q.s = t.s{% for c in columns %} AND q.c{{ c.number }} = t.c{{ c.number }}{% endfor %}

