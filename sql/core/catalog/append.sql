-- name: catalog/append
-- params: catalog (table), columns (of the catalog, without that of steps), changed (those
--   with new values), versions (names of what is bound), step (the column of steps)
-- returns: nothing; the last row of each of these versions once more, with its changes (the value of a
--   column is bound by the names of the column and of the version): for engines that change no rows
INSERT INTO {{ catalog | table }} ({% for c in columns %}{{ c }}, {% endfor %}{{ step }})
SELECT
{% for c in columns %}
{% if c not in changed %}
    c.{{ c }},
{% else %}
    CASE c.version{% for v in versions %} WHEN :{{ v }} THEN :{{ c }}_{{ v }}{% endfor %} END,
{% endif %}
{% endfor %}
    CAST(c._sqlanon_last + 1 AS TEXT)
FROM (
    SELECT
        d.*
        , COALESCE(CAST(d.{{ step }} AS INTEGER), 0) AS _sqlanon_step
        , MAX(COALESCE(CAST(d.{{ step }} AS INTEGER), 0)) OVER (PARTITION BY d.version) AS _sqlanon_last
    FROM {{ catalog | table }} AS d
    WHERE d.release = :release
        AND d.version IN ({% for v in versions %}{{ "" if loop.first else ", " }}:{{ v }}{% endfor %})
) AS c
WHERE c._sqlanon_step = c._sqlanon_last
