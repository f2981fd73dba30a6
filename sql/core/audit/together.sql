-- name: audit/together
-- params: stage (table of link and the aliases), first, second (tables of link, class),
--   sensitive (aliases), persons (aliases)
-- returns: classes, k, singles, matched (rows in both releases), below (rows in intersections
--   smaller than :floor), then per sensitive column distinct l and frequency l, then per identifier
--   that is counted the fewest distinct values of an intersection; it is never NULL in the stage
-- Rows of equal link (equal in all columns where the policy names no identifier) are
-- paired in turn. Rows that a release leaves out are a class of their own: who subtracts
-- one release from the other finds them. Those that both leave out are in neither.
WITH rows_of_both AS (
    SELECT
        a.class AS first_class
        , b.class AS second_class
{% for c in sensitive + persons %}
        , s.{{ c }} AS {{ c }}
{% endfor %}
    FROM (
        SELECT t.*, ROW_NUMBER() OVER (PARTITION BY t.link ORDER BY t.rid) AS turn FROM {{ stage | table }} AS t
    ) AS s
    JOIN (
        SELECT
            t.link AS link
            , COALESCE(t.class, -1) AS class
            , ROW_NUMBER() OVER (PARTITION BY t.link ORDER BY COALESCE(t.class, -1)) AS turn
        FROM {{ first | table }} AS t
    ) AS a ON a.link = s.link AND a.turn = s.turn
    JOIN (
        SELECT
            t.link AS link
            , COALESCE(t.class, -1) AS class
            , ROW_NUMBER() OVER (PARTITION BY t.link ORDER BY COALESCE(t.class, -1)) AS turn
        FROM {{ second | table }} AS t
    ) AS b ON b.link = s.link AND b.turn = s.turn
    WHERE a.class >= 0 OR b.class >= 0
)
, sizes AS (
    SELECT first_class, second_class, COUNT(*) AS n FROM rows_of_both AS r GROUP BY first_class, second_class
)
{% for c in sensitive %}
, counts{{ loop.index }} AS (
    SELECT first_class, second_class, COUNT(*) AS n FROM rows_of_both AS r GROUP BY first_class, second_class, {{ c }}
)
, classes{{ loop.index }} AS (
    SELECT COUNT(*) AS kinds, CAST(SUM(n) AS DOUBLE) / CAST(MAX(n) AS DOUBLE) AS l
    FROM counts{{ loop.index }} AS c
    GROUP BY first_class, second_class
)
{% endfor %}
SELECT
    (SELECT COUNT(*) FROM sizes AS s) AS classes
    , (SELECT COALESCE(MIN(s.n), 0) FROM sizes AS s) AS k
    , (SELECT COUNT(*) FROM sizes AS s WHERE s.n = 1) AS singles
    , (
        SELECT CAST(COALESCE(SUM(s.n), 0) AS BIGINT)
        FROM sizes AS s
        WHERE s.first_class >= 0 AND s.second_class >= 0
    ) AS matched
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
