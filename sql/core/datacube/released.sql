-- name: datacube/released
-- params: released (table to make), view, columns (list of {names}: published names of each quasi column), names (all of them),
--   sensitive ({name, domain, nulls, as_float, as_text} or none)
-- returns: p1.. (number of what is published of each column), the published columns, s (code of the sensitive value), n bigint
-- A sensitive value that the source does not hold has code -1: no cell of the source asks for it.
CREATE TEMPORARY TABLE {{ released | table }} AS
SELECT
{% for c in columns %}
    DENSE_RANK() OVER (ORDER BY {% for name in c.names %}{{ ", " if not loop.first }}g.{{ name | ident }} NULLS FIRST{% endfor %}) AS p{{ loop.index }},
{% endfor %}
{% for name in names %}
    g.{{ name | ident }} AS {{ name | ident }},
{% endfor %}
    g._sqlanon_s AS s
    , g._sqlanon_n AS n
FROM (
    SELECT
{% for name in names %}
        v.{{ name | ident }} AS {{ name | ident }},
{% endfor %}
{% if sensitive %}
        COALESCE(a.code, {{ "CASE WHEN v." ~ (sensitive.name | ident) ~ " IS NULL THEN 0 ELSE -1 END" if sensitive.nulls else "-1" }}) AS _sqlanon_s
{% else %}
        0 AS _sqlanon_s
{% endif %}
        , SUM(v._sqlanon_n) AS _sqlanon_n
    FROM (
        SELECT {% for name in names %}r.{{ name | ident }} AS {{ name | ident }}, {% endfor %}{% if sensitive %}r.{{ sensitive.name | ident }} AS {{ sensitive.name | ident }}, {% endif %}COUNT(*) AS _sqlanon_n
        FROM {{ view | table }} AS r
        GROUP BY {% for name in names %}r.{{ name | ident }}{{ ", " if not loop.last }}{% endfor %}{% if sensitive %}, r.{{ sensitive.name | ident }}{% endif %}

    ) AS v
{% if sensitive %}
    LEFT JOIN {{ sensitive.domain | table }} AS a ON a.value = {{ "CAST(v." ~ (sensitive.name | ident) ~ " AS VARCHAR)" if sensitive.as_text else "v." ~ (sensitive.name | ident) ~ (" + 0" if sensitive.as_float else "") }}
{% endif %}
    GROUP BY {% for name in names %}v.{{ name | ident }}, {% endfor %}_sqlanon_s
) AS g
