-- name: statistics/inside
-- params: inside (table to make), cells, atoms (tables), columns (list of {levels}), margins, threshold
-- returns: cell bigint, atom bigint: the atoms of each cell of few persons
CREATE {{ inside | scratch }} AS
{% for margin in margins %}
{{ "UNION ALL" if not loop.first }}
SELECT c.cell AS cell, a.atom AS atom
FROM {{ cells | table }} AS c
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
WHERE c.persons < {{ threshold }}{% for level in margin %} AND c.l{{ loop.index }} = {{ level }}{% endfor %}

{% endfor %}
