-- name: verify/marks
CREATE {{ marks | scratch }} AS
SELECT
    r._sqlanon_class AS class
    , hash_record_extended(ROW(
{% for name in names %}
        {{ ", " if not loop.first }}
{% if name in own %}
            CAST(r.{{ name | ident }} AS text)
{% else %}
            r.{{ name | ident }}
{% endif %}
{% endfor %}
    ), 0) AS mark
FROM {{ released | table }} AS r
