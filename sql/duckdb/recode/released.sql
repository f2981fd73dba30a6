-- name: recode/released
-- The ranks are joined: a window carries all columns, arrays too, through its sort, which takes twice as long.
CREATE {{ released | scratch }} AS
SELECT
    r._sqlanon_class AS _sqlanon_class
{% for name in names %}
    , r.{{ name | ident }} AS {{ name | ident }}
{% endfor %}
    , k.place AS _sqlanon_place
FROM {{ shown | table }} AS r
JOIN (
    SELECT
        o._sqlanon_class AS class
        , DENSE_RANK() OVER (
            ORDER BY
{% for name in names %}
                {{ ", " if not loop.first }}o.{{ (keys[name] or name) | ident }} NULLS FIRST
{% endfor %}
        ) AS place
    FROM {{ shown | table }} AS o
) AS k ON k.class = r._sqlanon_class
