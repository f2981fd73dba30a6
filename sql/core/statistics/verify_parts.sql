-- name: statistics/verify_parts
-- params: atoms (table of parts), neighbour (list of {place, how}), shown (places of
--   columns that classes show as they are)
-- returns: outside bigint (parts that their class does not have: outside of the ends of its rows, or
--   no member; of nodes see statistics/verify_branches), mixed bigint (kinds of several classes, or
--   with several values of a shown column), split bigint (kinds of one class with the same values)
SELECT
    0{% for c in neighbour if c.how != "branches" %} + (
        SELECT COUNT(*)
        FROM {{ atoms | table }} AS a
        JOIN (
            SELECT b.class AS class, MIN(b.r{{ c.place }}) AS low, MAX(b.r{{ c.place }}) AS high
            FROM {{ atoms | table }} AS b
            WHERE b.n > 0 AND b.class >= 0
            GROUP BY b.class
        ) AS e ON e.class = a.class
        LEFT JOIN (
            SELECT DISTINCT d.class AS class, d.r{{ c.place }} AS rank
            FROM {{ atoms | table }} AS d
            WHERE d.n > 0
        ) AS o ON o.class = a.class AND o.rank = a.r{{ c.place }}
        WHERE
{% if c.how == "members" %}
            o.rank IS NULL
{% else %}
            a.r{{ c.place }} < e.low OR a.r{{ c.place }} > e.high OR (e.low = 0 AND o.rank IS NULL)
{% endif %}
    ){% endfor %} + (
        SELECT COUNT(*)
        FROM {{ atoms | table }} AS y
        WHERE y.class >= 0 AND NOT y.class IN (SELECT z.class FROM {{ atoms | table }} AS z WHERE z.n > 0)
    ) AS outside
    , (
        SELECT COUNT(*)
        FROM (
            SELECT m.kind AS kind
            FROM {{ atoms | table }} AS m
            WHERE m.kind >= 0 OR m.class >= 0
            GROUP BY m.kind
            HAVING m.kind < 0
                OR MIN(m.class) < 0
                OR MIN(m.class) <> MAX(m.class)
{% for place in shown %}
                OR MIN(m.v{{ place }}_0) <> MAX(m.v{{ place }}_0)
{% endfor %}
        ) AS g
    ) AS mixed
    , (
        SELECT COUNT(*)
        FROM (
            SELECT k.class AS class
            FROM {{ atoms | table }} AS k
            WHERE k.class >= 0
            GROUP BY k.class{% for place in shown %}, k.v{{ place }}_0{% endfor %}

            HAVING COUNT(DISTINCT k.kind) > 1
        ) AS h
    ) AS split
