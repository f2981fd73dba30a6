-- name: statistics/past_inside
-- params: inside (table to make), numbered (as statistics/past_numbered makes it), atoms (those
--   of the first version), columns (list of {levels}), margins, first (the first version of all)
-- returns: cell bigint, atom bigint: the atoms of the first version in each cell of few persons
CREATE {{ inside | scratch }} AS
{% for margin in margins %}
{{ "UNION ALL" if not loop.first }}
SELECT c.cell AS cell, a.atom AS atom
FROM {{ numbered | table }} AS c
JOIN {{ atoms | table }} AS a
    ON
{% for column in columns %}
        {{ " AND " if not loop.first }}
{% if margin[loop.index0] < column.levels %}
            a.v{{ loop.index }}_{{ margin[loop.index0] }}
{% else %}
            '*'
{% endif %}
            = c.k{{ loop.index }}
{% endfor %}
WHERE c.since = {{ first }}{% for level in margin %} AND c.l{{ loop.index }} = {{ level }}{% endfor %}

{% endfor %}
