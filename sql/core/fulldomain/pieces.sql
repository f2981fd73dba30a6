-- name: fulldomain/pieces
-- params: pieces (table to make), cells, classes (tables), columns (list of {code, levels
--   (table), level}), joined, starred (bool)
-- returns: a column per code column, class integer: the class of every combination of quasi codes, numbered in
--   the order of codes; suppressed classes are the last class where they are starred, and otherwise lacking
CREATE {{ pieces | scratch }} AS
SELECT {% for c in columns %}s.{{ c.code }} AS {{ c.code }}, {% endfor %}g.class AS class
FROM (
    SELECT DISTINCT {% for c in columns %}{{ ", " if not loop.first }}t.{{ c.code }} AS {{ c.code }}{% endfor %}

    FROM {{ cells | table }} AS t
) AS s
{% for c in columns %}
JOIN {{ c.levels | table }} AS m{{ loop.index }} ON m{{ loop.index }}.level = {{ c.level }}
    AND m{{ loop.index }}.code = s.{{ c.code }}
{% endfor %}
JOIN (
    SELECT {% for c in columns %}k.{{ c.code }} AS {{ c.code }}, {% endfor %}CAST(CASE
        WHEN k.place
            > {{ joined }} THEN ROW_NUMBER() OVER (
                PARTITION BY CASE WHEN k.place > {{ joined }} THEN 1 ELSE 0 END
                ORDER BY {% for c in columns %}{{ ", " if not loop.first }}k.{{ c.code }}{% endfor %}
            ) - 1
        ELSE k.kept
      END AS INTEGER) AS class
    FROM (
        SELECT {% for c in columns %}c.{{ c.code }} AS {{ c.code }}, {% endfor %}c.place AS place
            , SUM(CASE WHEN c.place > {{ joined }} THEN 1 ELSE 0 END) OVER () AS kept
        FROM {{ classes | table }} AS c
    ) AS k
{% if not starred %}
    WHERE k.place > {{ joined }}
{% endif %}
) AS g ON {% for c in columns %}{{ " AND " if not loop.first }}g.{{ c.code }} = m{{ loop.index }}.node{% endfor %}

