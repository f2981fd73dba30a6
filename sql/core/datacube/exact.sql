-- name: datacube/exact
-- params: released (table to make), view, counted (tables), columns (list of {name, domain, nulls,
--   as_float, as_text}), sensitive ({name, domain, nulls, as_float, as_text}), group, count (column names)
-- returns: c1.. (codes), s, n double: the rows of format anatomy, each with the shares of its group's sensitive values
{% macro value(t, c) %}
{{ "CAST(" ~ t ~ "." ~ (c.name | ident) ~ " AS VARCHAR)" if c.as_text
    else t ~ "." ~ (c.name | ident) ~ (" + 0" if c.as_float else "") }}
{% endmacro %}
{% macro code(d, t, c) %}
COALESCE(
    {{ d }}.code, {{ "CASE WHEN " ~ t ~ "." ~ (c.name | ident) ~ " IS NULL THEN 0 ELSE -1 END" if c.nulls else "-1" }}
)
{% endmacro %}
CREATE {{ released | scratch }} AS
SELECT
{% for c in columns %}
    g.c{{ loop.index }} AS c{{ loop.index }},
{% endfor %}
    x.s AS s
    , SUM(g.n * x.share) AS n
FROM (
    SELECT
{% for c in columns %}
        w.c{{ loop.index }} AS c{{ loop.index }},
{% endfor %}
        w.grp AS grp
        , COUNT(*) AS n
    FROM (
        SELECT
{% for c in columns %}
            {{ code("d" ~ loop.index, "v", c) }} AS c{{ loop.index }},
{% endfor %}
            v.{{ group | ident }} AS grp
        FROM {{ view | table }} AS v
{% for c in columns %}
        LEFT JOIN {{ c.domain | table }} AS d{{ loop.index }} ON d{{ loop.index }}.value = {{ value("v", c) }}
{% endfor %}
    ) AS w
    GROUP BY {% for c in columns %}w.c{{ loop.index }}, {% endfor %}w.grp
) AS g
JOIN (
    SELECT
        q.{{ group | ident }} AS grp
        , {{ code("a", "q", sensitive) }} AS s
        , CAST(q.{{ count | ident }} AS DOUBLE)
            / CAST(SUM(q.{{ count | ident }}) OVER (PARTITION BY q.{{ group | ident }}) AS DOUBLE) AS share
    FROM {{ counted | table }} AS q
    LEFT JOIN {{ sensitive.domain | table }} AS a ON a.value = {{ value("q", sensitive) }}
) AS x ON x.grp = g.grp
GROUP BY {% for c in columns %}g.c{{ loop.index }}, {% endfor %}x.s
