-- name: datacube/cells
-- params: cells (table to make), stage (table), columns (list of {alias, domain, as_float,
--   as_text}), sensitive (such a column or none)
-- returns: c1.. (codes), s (code of the sensitive value, 0 without one), n bigint: the source's cells
-- NULL finds no value in the domain; its code is 0.
{% macro value(c) %}
{{ "CAST(t." ~ c.alias ~ " AS VARCHAR)" if c.as_text else "t." ~ c.alias ~ (" + 0" if c.as_float else "") }}
{% endmacro %}
CREATE {{ cells | scratch }} AS
SELECT
{% for c in columns %}
    g.c{{ loop.index }} AS c{{ loop.index }},
{% endfor %}
    g.s AS s
    , COUNT(*) AS n
FROM (
    SELECT
{% for c in columns %}
        COALESCE(d{{ loop.index }}.code, 0) AS c{{ loop.index }},
{% endfor %}
        {{ "COALESCE(a.code, 0)" if sensitive else "0" }} AS s
    FROM {{ stage | table }} AS t
{% for c in columns %}
    LEFT JOIN {{ c.domain | table }} AS d{{ loop.index }} ON d{{ loop.index }}.value = {{ value(c) }}
{% endfor %}
{% if sensitive %}
    LEFT JOIN {{ sensitive.domain | table }} AS a ON a.value = {{ value(sensitive) }}
{% endif %}
) AS g
GROUP BY {% for c in columns %}g.c{{ loop.index }}, {% endfor %}g.s
