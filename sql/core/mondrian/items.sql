-- name: mondrian/items
-- params: items (table to make), work (table), attributes (list of {code, domain,
--   ordered}), sensitive (SA code columns), relaxed (bool)
-- returns: part bigint (0), n bigint, a code (and position, if ordered) per attribute, SA
--   codes; relaxed: rid, tie, one row each
-- In strict partitioning rows of equal codes stay together, so they travel as one item with a count.
CREATE {{ items | scratch }} AS
SELECT
    CAST(0 AS BIGINT) AS part
    , {{ "CAST(1 AS BIGINT)" if relaxed else "w.n" }} AS n
{% if relaxed %}
    , w.rid AS rid
    , w.tie AS tie
{% endif %}
{% for attribute in attributes %}
    , w.{{ attribute.code }} AS {{ attribute.code }}
{% if attribute.ordered %}
    , d{{ loop.index }}.pos AS p_{{ attribute.code }}
{% endif %}
{% endfor %}
{% for column in sensitive %}
    , w.{{ column }} AS {{ column }}
{% endfor %}
{% if relaxed %}
FROM {{ work | table }} AS w
{% else %}
FROM (
    SELECT
{% for attribute in attributes %}
        r.{{ attribute.code }} AS {{ attribute.code }},
{% endfor %}
        {% for column in sensitive %}r.{{ column }} AS {{ column }}, {% endfor %}COUNT(*) AS n
    FROM {{ work | table }} AS r
    GROUP BY
        {% for attribute in attributes %}{{ ", " if not loop.first }}r.{{ attribute.code }}{% endfor %}
{% for column in sensitive %}
        , r.{{ column }}
{% endfor %}
) AS w
{% endif %}
{% for attribute in attributes %}
{% if attribute.ordered %}
JOIN {{ attribute.domain | table }} AS d{{ loop.index }} ON d{{ loop.index }}.code = w.{{ attribute.code }}
{% endif %}
{% endfor %}
