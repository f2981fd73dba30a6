-- name: recode/released
-- A rank over all classes would be the work of one task. Places follow from what is published alone, and no two
-- different things have the same.
-- A hash decides only which of 64 parts they are ranked in, and mostly their order there.
CREATE {{ released | scratch }} AS
SELECT
    r._sqlanon_class AS _sqlanon_class
{% for name in names %}
    , r.{{ name | ident }} AS {{ name | ident }}
{% endfor %}
    , DENSE_RANK() OVER (
        PARTITION BY r._sqlanon_part
        ORDER BY r._sqlanon_mark{% for name in names %}, r.{{ (keys[name] or name) | ident }} NULLS FIRST{% endfor %}

    ) * 64L + r._sqlanon_part AS _sqlanon_place
FROM (
    SELECT m.*, PMOD(m._sqlanon_mark, 64L) AS _sqlanon_part
    FROM (
        SELECT
            s.*
            , XXHASH64(
{% for name in names %}
                s.{{ name | ident }}, s.{{ name | ident }} IS NULL{{ "" if loop.last else ", " }}
{% endfor %}
            ) AS _sqlanon_mark
        FROM {{ shown | table }} AS s
    ) AS m
) AS r
