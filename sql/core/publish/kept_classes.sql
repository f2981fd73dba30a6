-- name: publish/kept_classes
-- params: made (table to make), classes (the lineage's), rows (a table with column class),
--   columns (published names), placed (bool)
-- returns: _sqlanon_class, the published columns, _sqlanon_place if asked (rank by them): every class that has a row
CREATE {{ made | scratch }} AS
SELECT
    c._sqlanon_class AS _sqlanon_class
{% for name in columns %}
    , c.{{ name | ident }} AS {{ name | ident }}
{% endfor %}
{% if placed %}
    , DENSE_RANK() OVER (
        ORDER BY {% for name in columns %}{{ ", " if not loop.first }}c.{{ name | ident }} NULLS FIRST{% endfor %}
    ) AS _sqlanon_place
{% endif %}
FROM {{ classes | table }} AS c
WHERE c._sqlanon_class IN (SELECT r.class FROM {{ rows | table }} AS r)
