-- name: verify/compared_released
-- params: compared (table to make), target (the release), classes (its columns that come from the class), stage
--   (table of staged rows of the source), columns (list of {name (in the release), alias (in the stage), as_text})
-- returns: number bigint (of the class of a row; NULL: a row of the source), one column
--   per alias, n bigint: rows of these values
{% macro stored(c) %}{{ "CAST(s." ~ c.alias ~ " AS VARCHAR)" if c.as_text else "s." ~ c.alias }}{% endmacro %}
{% macro shown(c) %}
{{ "CAST(t." ~ (c.name | ident) ~ " AS VARCHAR)" if c.as_text else "t." ~ (c.name | ident) }}
{% endmacro %}
CREATE {{ compared | scratch }} AS
SELECT
    CAST(r.number AS BIGINT) AS number
{% for c in columns %}
    , r.{{ c.alias }} AS {{ c.alias }}
{% endfor %}
    , CAST(COUNT(*) AS BIGINT) AS n
FROM (
    SELECT
        DENSE_RANK() OVER (
            ORDER BY {% for name in classes %}{{ ", " if not loop.first }}t.{{ name | ident }}{% endfor %}
        ) AS number
        {% for c in columns %}, {{ shown(c) }} AS {{ c.alias }}{% endfor %}

    FROM {{ target | table }} AS t
) AS r
GROUP BY r.number{% for c in columns %}, r.{{ c.alias }}{% endfor %}

UNION ALL
SELECT
    CAST(NULL AS BIGINT) AS number
{% for c in columns %}
    , a.{{ c.alias }} AS {{ c.alias }}
{% endfor %}
    , CAST(COUNT(*) AS BIGINT) AS n
FROM (
    SELECT {% for c in columns %}{{ ", " if not loop.first }}{{ stored(c) }} AS {{ c.alias }}{% endfor %}

    FROM {{ stage | table }} AS s
) AS a
GROUP BY {% for c in columns %}{{ ", " if not loop.first }}a.{{ c.alias }}{% endfor %}

