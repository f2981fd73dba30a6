-- name: statistics/verify_placed
-- params: keyed (table, as statistics/verify_rows makes it), stage, linked (tables), link (see
--   statistics/placed), atoms (table of parts), columns (list of {levels}), merged (bool, see statistics/placed)
-- returns: failing bigint: rows by class and finest combination that are not in the table
--   with the same number, and others that are in it; parts of fewer than no rows
{% macro keys(of) %}{% for c in columns %}, {{ of }}.v{{ loop.index }}_0{% endfor %}{% endmacro %}
{% set class = "CASE WHEN l.class IS NULL THEN -1 ELSE 0 END" if merged else "COALESCE(l.class, -1)" %}
SELECT COUNT(*) AS failing
FROM (
    SELECT
        {{ class }} AS class
        , COUNT(*) AS n
{% for c in columns %}
        , d.v{{ loop.index }}_0 AS v{{ loop.index }}_0
{% endfor %}
    FROM (
        SELECT k.*, ROW_NUMBER() OVER (PARTITION BY k.placing ORDER BY k.rid) AS turn
        FROM (
            SELECT
                t.rid AS rid
                , {{ link | link_of("t") }} AS placing
{% for c in columns %}
                , o.v{{ loop.index }}_0 AS v{{ loop.index }}_0
{% endfor %}
            FROM {{ stage | table }} AS t
            JOIN {{ keyed | table }} AS o ON o.rid = t.rid
        ) AS k
    ) AS d
    JOIN (
        SELECT
            q.link AS link
            , q.class AS class
            , ROW_NUMBER() OVER (PARTITION BY q.link ORDER BY COALESCE(q.class, -1)) AS turn
        FROM {{ linked | table }} AS q
    ) AS l ON l.link = d.placing AND l.turn = d.turn
    GROUP BY {{ class }}{{ keys("d") }}
) AS f
FULL JOIN (
    SELECT
        a.class AS class
        , CAST(SUM(a.n) AS BIGINT) AS n
        , MIN(a.n) AS least
{% for c in columns %}
        , a.v{{ loop.index }}_0 AS v{{ loop.index }}_0
{% endfor %}
    FROM {{ atoms | table }} AS a
    GROUP BY a.class{{ keys("a") }}
    HAVING SUM(a.n) > 0 OR MIN(a.n) < 0
) AS p ON p.class = f.class
    AND p.n = f.n
{% for c in columns %}
    AND p.v{{ loop.index }}_0 = f.v{{ loop.index }}_0
{% endfor %}
WHERE f.n IS NULL OR p.n IS NULL OR p.least < 0
