-- name: verify/population_groups
-- params: groups (table to make), target (the release), columns (lists of published columns, one a quasi column)
-- returns: _sqlanon_grp bigint, _sqlanon_n bigint (rows), the published columns, and per
--   quasi column a number of what is published of it
CREATE {{ groups | scratch }} AS
SELECT
    ROW_NUMBER() OVER () AS _sqlanon_grp
    , g._sqlanon_n AS _sqlanon_n
{% for names in columns %}
{% for name in names %}
    , g.{{ name | ident }} AS {{ name | ident }}
{% endfor %}
    , DENSE_RANK() OVER (
        ORDER BY {% for name in names %}{{ ", " if not loop.first }}g.{{ name | ident }}{% endfor %}
    ) AS _sqlanon_said{{ loop.index }}
{% endfor %}
FROM (
    SELECT
        COUNT(*) AS _sqlanon_n
{% for names in columns %}
{% for name in names %}
        , t.{{ name | ident }} AS {{ name | ident }}
{% endfor %}
{% endfor %}
    FROM {{ target | table }} AS t
    GROUP BY
{% for names in columns %}
        {{ ", " if not loop.first }}
{% for name in names %}
        {{ ", " if not loop.first }}t.{{ name | ident }}
{% endfor %}
{% endfor %}
) AS g
