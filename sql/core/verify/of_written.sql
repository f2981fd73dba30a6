-- name: verify/of_written
-- params: written, marks, released (tables), names (all published QI-derived columns), sums (table of
--   verify/class_sums, or none)
-- returns: n bigint, mark text: the fingerprint of the written table, as verify/fingerprint makes it; apart
--   boolean: every class has a mark of its own, so that the groups of a mark are those of the class columns, or,
--   with sums, where another statement takes longer, no two marks of what differs are the same (verify/shared_marks);
--   with sums: staged_n bigint, staged_mark text, the fingerprint that the staged rows must leave in the table,
--   by mark (verify/written says how)
SELECT
    w.n AS n
    , w.mark AS mark
{% if sums %}
    , (
        SELECT COUNT(*)
        FROM (
            SELECT DISTINCT {% for name in names %}{{ ", " if not loop.first }}r.{{ name | ident }}{% endfor %}
            FROM {{ released | table }} AS r
        ) AS d
    ) = (SELECT COUNT(DISTINCT m.mark) FROM {{ marks | table }} AS m) AS apart
    , s.n AS staged_n
    , s.mark AS staged_mark
{% else %}
    , (SELECT COUNT(DISTINCT m.mark) = COUNT(*) FROM {{ marks | table }} AS m) AS apart
{% endif %}
FROM (
    SELECT
        CAST(COALESCE(SUM(t.n), 0) AS BIGINT) AS n
        , CAST(COALESCE(SUM(t.total), 0) AS {{ dialect.text }}) AS mark
    FROM {{ written | table }} AS t
) AS w
{% if sums %}
CROSS JOIN (
    SELECT
        CAST(COALESCE(SUM(g.n), 0) AS BIGINT) AS n
        , CAST(
            COALESCE(SUM(CAST(HASH(g.mark, g.n, CAST(g.total AS {{ dialect.text }})) AS HUGEINT)), 0)
            AS {{ dialect.text }}
        ) AS mark
    FROM (
        SELECT m.mark AS mark, CAST(SUM(c.n) AS BIGINT) AS n, SUM(c.kept) AS total
        FROM {{ sums | table }} AS c
        JOIN {{ marks | table }} AS m ON m.class = c.class
        GROUP BY m.mark
    ) AS g
) AS s
{% endif %}
