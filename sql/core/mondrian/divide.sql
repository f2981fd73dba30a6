-- name: mondrian/divide
-- params: divided (table to make), items (table), cuts (table), attributes (list of {code,
--   dim, kind}), sensitive, relaxed (bool)
-- returns: the items of partitions with a cut, part renamed: the left half keeps it, the
--   right one adds the left one's rows
CREATE {{ divided | scratch }} AS
SELECT
    CASE WHEN o.at <= o.cut THEN o.part ELSE o.part + o.n_left END AS part
    , o.n AS n
{% if relaxed %}
    , o.rid AS rid
    , o.tie AS tie
{% endif %}
{% for a in attributes %}
    , o.{{ a.code }} AS {{ a.code }}
{% if a.kind == "ordered" %}
    , o.p_{{ a.code }} AS p_{{ a.code }}
{% endif %}
{% endfor %}
{% for column in sensitive %}
    , o.{{ column }} AS {{ column }}
{% endfor %}
FROM (
    SELECT
        i.part AS part
        , i.n AS n
        , c.cut AS cut
        , c.n_left AS n_left
{% if relaxed %}
        , i.rid AS rid
        , i.tie AS tie
        , ROW_NUMBER() OVER (
            PARTITION BY i.part
            ORDER BY CASE c.dim{% for a in attributes %} WHEN {{ a.dim }} THEN i.{{ a.code }}{% endfor %} END, i.tie
        ) AS at
{% else %}
        , CASE c.dim{% for a in attributes %} WHEN {{ a.dim }} THEN i.{{ a.code }}{% endfor %} END AS at
{% endif %}
{% for a in attributes %}
        , i.{{ a.code }} AS {{ a.code }}
{% if a.kind == "ordered" %}
        , i.p_{{ a.code }} AS p_{{ a.code }}
{% endif %}
{% endfor %}
{% for column in sensitive %}
        , i.{{ column }} AS {{ column }}
{% endfor %}
    FROM {{ items | table }} AS i
    JOIN {{ cuts | table }} AS c ON c.part = i.part
) AS o
