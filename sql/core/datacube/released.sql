-- name: datacube/released
-- params: released (table to make), view, columns (list of {names}: what the view holds of
--   each quasi column), sensitive ({name, domain, nulls, as_float, as_text} or none)
-- returns: p1.. (number of what is published of each column), v1_1.. (the published
--   columns), s (code of the sensitive value), n bigint
-- A sensitive value that the source does not hold has code -1: no cell of the source asks for it.
{% macro code() %}
{% if sensitive %}
COALESCE(a.code, {{ "CASE WHEN v.sa IS NULL THEN 0 ELSE -1 END" if sensitive.nulls else "-1" }})
{% else %}
0
{% endif %}
{% endmacro %}
{% macro each(t) %}
{% for c in columns %}
{% set i = loop.index %}
{% for name in c.names %}
{{ t }}.v{{ i }}_{{ loop.index }},
{% endfor %}
{% endfor %}
{% endmacro %}
CREATE {{ released | scratch }} AS
{% block numbered %}
SELECT
{% for c in columns %}
{% set i = loop.index %}
    DENSE_RANK() OVER (
        ORDER BY
{% for name in c.names %}
            {{ ", " if not loop.first }}g.v{{ i }}_{{ loop.index }} NULLS FIRST
{% endfor %}
    ) AS p{{ i }}
    ,
{% endfor %}
    {{ each("g") }}g.s AS s
    , g.n AS n
FROM (
{% block counted %}
    SELECT
        {{ each("v") }}{{ code() }} AS s
        , {{ "SUM(v.n)" if sensitive else "v.n" }} AS n
    FROM (
        SELECT
{% for c in columns %}
{% set i = loop.index %}
{% for name in c.names %}
            r.{{ name | ident }} AS v{{ i }}_{{ loop.index }},
{% endfor %}
{% endfor %}
{% if sensitive %}
            r.{{ sensitive.name | ident }} AS sa,
{% endif %}
            COUNT(*) AS n
        FROM {{ view | table }} AS r
        GROUP BY
{% for c in columns %}
{% set first = loop.first %}
            {% for name in c.names %}{{ ", " if not (first and loop.first) }}r.{{ name | ident }}{% endfor %}
{% endfor %}
{% if sensitive %}
            , r.{{ sensitive.name | ident }}
{% endif %}
    ) AS v
{% if sensitive %}
    LEFT JOIN {{ sensitive.domain | table }} AS a
        ON a.value
            = {{ "CAST(v.sa AS VARCHAR)" if sensitive.as_text else ("v.sa + 0" if sensitive.as_float else "v.sa") }}
    GROUP BY {{ each("v") }}{{ code() }}
{% endif %}
{% endblock %}
) AS g
{% endblock %}
