-- name: recode/released
-- params: released (table to make), shown (table), names (all published names, in order),
--   keys (by name: a column of codes that ranks as it does, or none)
-- Classes that publish the same have the same place: their rows must not lie apart in the table.
-- returns: _sqlanon_class, every published QI-derived column, _sqlanon_place (of the same
--   number where the same is published; ranks but on Spark): one row a class
CREATE {{ released | scratch }} AS
SELECT
    r._sqlanon_class AS _sqlanon_class
{% for name in names %}
    , r.{{ name | ident }} AS {{ name | ident }}
{% endfor %}
    , DENSE_RANK() OVER (
        ORDER BY
{% for name in names %}
            {{ ", " if not loop.first }}r.{{ (keys[name] or name) | ident }} NULLS FIRST
{% endfor %}
    ) AS _sqlanon_place
FROM {{ shown | table }} AS r
