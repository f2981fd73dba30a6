-- name: mondrian/halves
-- params: halves (table to make), candidates, items (tables), attribute (the one that is
--   cut: {code}), sensitive (SA code columns), relaxed (bool)
-- returns: part, cut bigint, side integer (0: left of the cut), n bigint and SA codes:
--   both halves of every candidate cut
CREATE {{ halves | scratch }} AS
SELECT
    c.part AS part
    , c.cut AS cut
    , CASE WHEN x.v <= c.cut THEN 0 ELSE 1 END AS side
    , CAST(x.n AS BIGINT) AS n
{% for s in sensitive %}
    , x.{{ s }} AS {{ s }}
{% endfor %}
FROM {{ candidates | table }} AS c
JOIN (
    SELECT i.part AS part, i.n AS n{% for s in sensitive %}, i.{{ s }} AS {{ s }}{% endfor %}

        , {{ "ROW_NUMBER() OVER (PARTITION BY i.part ORDER BY i." ~ attribute.code ~ ", i.tie)" if relaxed
            else "i." ~ attribute.code }} AS v
    FROM {{ items | table }} AS i
) AS x ON x.part = c.part
