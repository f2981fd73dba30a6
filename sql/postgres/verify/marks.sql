-- name: verify/marks
{% from "postgres/verify/hashed.jinja" import hashed %}
CREATE {{ marks | scratch }} AS
SELECT
    r._sqlanon_class AS class
    , hash_record_extended(ROW(
{% for name in names %}
        {{ ", " if not loop.first }}{{ hashed("r." ~ (name | ident), name in own, kinds[name]) }}
{% endfor %}
    ), 0) AS mark
FROM {{ released | table }} AS r
