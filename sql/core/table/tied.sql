-- name: table/tied
-- params: tied (table to make), work, assign (tables), codes (QI and SA code columns), kept (aliases of the columns that are published as they are)
-- returns: rid integer, class integer: for every row in a group of equal codes that is divided among classes, the class that it gets. The
--   classes of a group are given in their order to its rows in that of a hash of what makes up a row, keyed with :secret.
-- The link is a hash of the row's identifiers, or of all its columns; see prepare.link_columns. One sort: the classes are
--   counted. 60 bits of the hash, as an integer, sort several times as fast as its text.
{% macro canon(c, text) %}COALESCE(CAST(LENGTH(CAST({{ c }} AS {{ text }})) AS {{ text }}) || ':' || CAST({{ c }} AS {{ text }}), 'n'){% endmacro %}
CREATE TEMPORARY TABLE {{ tied | table }} AS
WITH shared AS MATERIALIZED (
    SELECT w.rid AS rid, g.first AS first, a.class AS class
        , CAST('0x' || LEFT(SHA256(:secret || '/tie/' || CAST(w.link AS VARCHAR){% for c in kept %} || {{ canon("w." ~ c, "VARCHAR") }}{% endfor %}), 15) AS BIGINT) AS turn_key
    FROM {{ work | table }} AS w
    JOIN {{ assign | table }} AS a ON a.rid = w.rid
    JOIN (
        SELECT MIN(v.rid) AS first{% for c in codes %}, v.{{ c }} AS {{ c }}{% endfor %}

        FROM {{ work | table }} AS v
        JOIN {{ assign | table }} AS b ON b.rid = v.rid
        GROUP BY {% for c in codes %}{{ ", " if not loop.first }}v.{{ c }}{% endfor %}

        HAVING MIN(b.class) < MAX(b.class)
    ) AS g ON {% for c in codes %}{{ " AND " if not loop.first }}g.{{ c }} = w.{{ c }}{% endfor %}

)
, counted AS (
    SELECT c.first AS first, c.class AS class, c.n AS n, CAST(SUM(c.n) OVER (PARTITION BY c.first ORDER BY c.class) AS BIGINT) AS last
    FROM (SELECT s.first AS first, s.class AS class, COUNT(*) AS n FROM shared AS s GROUP BY s.first, s.class) AS c
)
SELECT t.rid AS rid, p.class AS class
FROM (
    SELECT s.rid AS rid, s.first AS first, ROW_NUMBER() OVER (PARTITION BY s.first ORDER BY s.turn_key, s.rid) AS turn
    FROM shared AS s
) AS t
JOIN (
    SELECT k.first AS first, k.class AS class, UNNEST(RANGE(k.last - k.n + 1, k.last + 1)) AS turn
    FROM counted AS k
) AS p ON p.first = t.first AND p.turn = t.turn
