-- name: statistics/verify_classes
-- params: atoms (table of parts), witness (table), needs (as statistics/needs makes it), neighbour (list of {place})
-- returns: moved bigint (kinds whose number a witness changes), lost bigint (ranks that a class shows,
--   or that are kept, of which a witness leaves no row; of nodes, branches beside which it leaves none)
SELECT
    (
        SELECT COUNT(*)
        FROM (
            SELECT w.witness AS witness, a.kind AS kind
            FROM {{ witness | table }} AS w
            JOIN {{ atoms | table }} AS a ON a.atom = w.atom
            WHERE a.kind >= 0
            GROUP BY w.witness, a.kind
            HAVING SUM(w.change) <> 0
        ) AS g
    ) AS moved
    , 0{% for c in neighbour %} + (
        SELECT COUNT(*)
        FROM (
            SELECT t.witness AS witness, n.class AS class, n.rank AS rank
            FROM (
                SELECT DISTINCT x.witness AS witness, y.class AS class
                FROM {{ witness | table }} AS x
                JOIN {{ atoms | table }} AS y ON y.atom = x.atom
                WHERE y.class >= 0
            ) AS t
            JOIN {{ needs | table }} AS n ON n.class = t.class AND n.place = {{ c.place }}
            JOIN {{ atoms | table }} AS b ON b.class = n.class
                AND b.r{{ c.place }} {{ "<>" if c.how == "branches" else "=" }} n.rank
            LEFT JOIN {{ witness | table }} AS u ON u.witness = t.witness AND u.atom = b.atom
            GROUP BY t.witness, n.class, n.rank
            HAVING SUM(b.n + COALESCE(u.change, 0)) < 1
        ) AS h{{ c.place }}
    ){% endfor %} AS lost
