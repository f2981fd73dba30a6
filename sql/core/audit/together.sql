-- name: audit/together
-- params: stage (table of link and the aliases), first, second (tables of link, class), sensitive (aliases), persons (aliases)
-- returns: classes, k, singles, matched, below (rows in intersections smaller than :floor), then per sensitive column distinct l and
--   frequency l, then per identifier that is counted the fewest distinct values of an intersection; it is never NULL in the stage
-- Rows of equal link (equal in all columns where the policy names no identifier) are paired in turn. Rows that a release leaves out have no class.
WITH rows_of_both AS (
    SELECT a.class AS first_class, b.class AS second_class{% for c in sensitive + persons %}, s.{{ c }} AS {{ c }}{% endfor %}

    FROM (
        SELECT t.*, ROW_NUMBER() OVER (PARTITION BY t.link ORDER BY t.rid) AS turn FROM {{ stage | table }} AS t
    ) AS s
    JOIN (
        SELECT t.link AS link, t.class AS class, ROW_NUMBER() OVER (PARTITION BY t.link ORDER BY t.class) AS turn FROM {{ first | table }} AS t WHERE t.class IS NOT NULL
    ) AS a ON a.link = s.link AND a.turn = s.turn
    JOIN (
        SELECT t.link AS link, t.class AS class, ROW_NUMBER() OVER (PARTITION BY t.link ORDER BY t.class) AS turn FROM {{ second | table }} AS t WHERE t.class IS NOT NULL
    ) AS b ON b.link = s.link AND b.turn = s.turn
)
, sizes AS (
    SELECT first_class, second_class, COUNT(*) AS n FROM rows_of_both AS r GROUP BY first_class, second_class
)
{% for c in sensitive %}
, counts{{ loop.index }} AS (
    SELECT first_class, second_class, COUNT(*) AS n FROM rows_of_both AS r GROUP BY first_class, second_class, {{ c }}
)
, classes{{ loop.index }} AS (
    SELECT COUNT(*) AS kinds, CAST(SUM(n) AS DOUBLE) / CAST(MAX(n) AS DOUBLE) AS l FROM counts{{ loop.index }} AS c GROUP BY first_class, second_class
)
{% endfor %}
SELECT
    (SELECT COUNT(*) FROM sizes AS s) AS classes
    , (SELECT COALESCE(MIN(s.n), 0) FROM sizes AS s) AS k
    , (SELECT COUNT(*) FROM sizes AS s WHERE s.n = 1) AS singles
    , (SELECT CAST(COALESCE(SUM(s.n), 0) AS BIGINT) FROM sizes AS s) AS matched
    , (SELECT CAST(COALESCE(SUM(s.n), 0) AS BIGINT) FROM sizes AS s WHERE s.n < :floor) AS below
{% for c in sensitive %}
    , (SELECT COALESCE(MIN(c.kinds), 0) FROM classes{{ loop.index }} AS c) AS distinct_l{{ loop.index }}
    , (SELECT COALESCE(MIN(c.l), 0) FROM classes{{ loop.index }} AS c) AS frequency_l{{ loop.index }}
{% endfor %}
{% for c in persons %}
    , (
        SELECT COALESCE(MIN(c.n), 0)
        FROM (SELECT COUNT(DISTINCT r.{{ c }}) AS n FROM rows_of_both AS r GROUP BY first_class, second_class) AS c
    ) AS fewest{{ loop.index }}
{% endfor %}
