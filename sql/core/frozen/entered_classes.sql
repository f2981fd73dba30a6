-- name: frozen/entered_classes
-- params: entered (table to make), released (classes with what is published of them), groups ({table, key,
--   group}: which of them publish the same), boxes (their boxes), version, offset (whole numbers), starred (the
--   class of suppressed rows, or none), columns (list of {name, filled (SQL, or none: the class has the
--   column)}), codes (list of {code, weight}), weights (their sum), exits (table of rows of exit groups, or none)
-- returns: one row for every group of classes that publish the same, or for every exit
--   group of it: its number in the lineage, its weighted NCP, and what is published
CREATE {{ entered | scratch }} AS
SELECT
    CAST({{ "COALESCE(x.number, o.place)" if exits else "o.place" }} + {{ offset }} AS BIGINT) AS _sqlanon_class
    , CAST({{ version }} AS BIGINT) AS _sqlanon_since
    , {% if starred is not none %}r._sqlanon_class = {{ starred }}{% else %}FALSE{% endif %} AS _sqlanon_starred
    , CAST(o.loss AS DOUBLE) AS _sqlanon_loss
{% for c in columns %}
    , {{ c.filled or "r." ~ (c.name | ident) }} AS {{ c.name | ident }}
{% endfor %}
FROM {{ released | table }} AS r
JOIN (
    SELECT
        p.{{ groups.group }} AS place
        , MIN(b.class) AS class
        , SUM(
            b.n * ({% for c in codes %}{{ " + " if not loop.first }}{{ c.weight }} * b.ncp_{{ c.code }}{% endfor %})
        ) / (SUM(b.n) * {{ weights }}) AS loss
    FROM {{ boxes | table }} AS b
    JOIN {{ groups.table | table }} AS p ON p.{{ groups.key }} = b.class
    GROUP BY p.{{ groups.group }}
) AS o ON o.class = r._sqlanon_class
{% if exits %}
LEFT JOIN (SELECT DISTINCT e.place, e.number FROM {{ exits | table }} AS e) AS x ON x.place = o.place
{% endif %}
