-- name: statistics/placed
-- params: placed (table to make), rows (table, as statistics/rows makes it), stage (table of rid, alias),
--   linked (table of link, class), link (alias of each column that it is the hash of, or none: the column
--   link), columns (of which classes show less, list of {place, how, alias, leaves (table of key, rank,
--   or none)}), merged (bool: without such columns, where persons are not counted, all classes are one)
-- returns: atom bigint, class bigint (-1: the release of rows leaves the rows out; -2: it does not
--   have them), n bigint (rows), and of each column r<place> bigint, the rank of the value: 0 for NULL
-- Merged classes: nothing but sums of the shown columns is known.
-- Rows of equal link (equal in all columns where the policy names no identifier) are paired in turn.
CREATE {{ placed | scratch }} AS
SELECT
    g.atom AS atom
    , g.class AS class
    , g.n AS n
{% for c in columns %}
{% if c.leaves %}
    , COALESCE(g.x{{ c.place }}, 0) AS r{{ c.place }}
{% else %}
    , CASE WHEN g.x{{ c.place }} IS NULL THEN 0 ELSE DENSE_RANK() OVER (ORDER BY g.x{{ c.place }}) END AS r{{ c.place }}
{% endif %}
{% endfor %}
FROM (
    SELECT
        r.atom AS atom
        , CASE WHEN l.turn IS NULL THEN -2 {% if merged %}WHEN l.class >= 0 THEN 0 {% endif %}ELSE l.class END AS class
        , COUNT(*) AS n
{% for c in columns %}
        , MIN(
{% if c.leaves %}
            p{{ c.place }}.rank
{% elif c.how == "members" %}
            CASE WHEN r.v{{ c.place }}_0 <> 'n' THEN r.v{{ c.place }}_0 END
{% else %}
            s.{{ c.alias }}
{% endif %}
        ) AS x{{ c.place }}
{% endfor %}
    FROM (
        SELECT
            t.*
            , {{ link | link_of("t") }} AS placing
            , ROW_NUMBER() OVER (PARTITION BY {{ link | link_of("t") }} ORDER BY t.rid) AS turn
        FROM {{ stage | table }} AS t
    ) AS s
    JOIN {{ rows | table }} AS r ON r.rid = s.rid
    LEFT JOIN (
        SELECT
            k.link AS link
            , COALESCE(k.class, -1) AS class
            , ROW_NUMBER() OVER (PARTITION BY k.link ORDER BY COALESCE(k.class, -1)) AS turn
        FROM {{ linked | table }} AS k
    ) AS l ON l.link = s.placing AND l.turn = s.turn
{% for c in columns if c.leaves %}
    LEFT JOIN {{ c.leaves | table }} AS p{{ c.place }} ON p{{ c.place }}.leaf = r.v{{ c.place }}_0
{% endfor %}
    GROUP BY
        r.atom
        , CASE WHEN l.turn IS NULL THEN -2 {% if merged %}WHEN l.class >= 0 THEN 0 {% endif %}ELSE l.class END
) AS g
