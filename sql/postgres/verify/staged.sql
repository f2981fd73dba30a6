-- name: verify/staged
{% from "postgres/verify/hashed.jinja" import hashed %}
SELECT
    COUNT(*) AS n
    , CAST(COALESCE(SUM(hash_numeric_extended(CAST(hash_record_extended(ROW(
{% if dense %}
        (SELECT array_agg(r.mark ORDER BY r.class) FROM {{ marks | table }} AS r)[s.class + 1]
{% else %}
        r.mark
{% endif %}
{% for c in published if c.source == "s" %}
        , {{ hashed("s." ~ (c.column | ident), c.as_text, c.kind) }}
{% endfor %}
    ), 0) AS numeric), 0)), 0) AS text) AS mark
FROM {{ classed | table }} AS s
{% if not dense %}
JOIN {{ marks | table }} AS r ON r.class = s.class
{% endif %}
