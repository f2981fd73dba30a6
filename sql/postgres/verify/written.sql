-- name: verify/written
-- Each row is hashed as in verify/fingerprint; no engine's rows are made of codes here, so that nothing is by mark.
{% from "postgres/verify/hashed.jinja" import hashed %}
CREATE {{ written | scratch }} AS
SELECT
    t.mark AS mark
    , COUNT(*) AS n
    , SUM(hash_numeric_extended(CAST(hash_record_extended(ROW(
        t.mark
{% for c in published if c.source == "s" %}
        , {{ hashed("t.p%d" % loop.index, c.as_text, c.kind) }}
{% endfor %}
    ), 0) AS numeric), 0)) AS total
FROM (
    SELECT
        hash_record_extended(ROW(
{% for c in published if c.source == "r" %}
            {{ ", " if not loop.first }}{{ hashed("w." ~ (c.name | ident), c.as_text, c.kind) }}
{% endfor %}
        ), 0) AS mark
{% for c in published if c.source == "s" %}
        , w.{{ c.name | ident }} AS p{{ loop.index }}
{% endfor %}
    FROM {{ target | table }} AS w
) AS t
GROUP BY t.mark
