-- name: formats/labels_covered
-- params: classed, claimed (tables), columns (list of {alias, kind, names, as_text, type,
--   claims (table or none), ranks (table or none), said (table or none), at})
-- returns: n bigint (staged rows that reach the release), uncovered bigint (rows that what
--   is published for them does not cover)
-- Compares staged original values with released ones, by class; it knows nothing of codes or methods.
-- claims says what a released text means: (leaf, label) of a hierarchy, (low, high, label)
-- or (member, label) read back from labels. What sets and nodes say (said) is compared
-- once for every pair of it and an original value, not once a row.
{% macro original(c) %}{{ "CAST(s." ~ c.alias ~ " AS VARCHAR)" if c.as_text else "s." ~ c.alias }}{% endmacro %}
SELECT
    CAST(COALESCE(SUM(g.n), 0) AS BIGINT) AS n
    , CAST(COALESCE(SUM(CASE WHEN TRUE
{% for c in columns if c.said %}
        AND COALESCE(
            CASE t{{ c.at }}.value
                WHEN '*' THEN TRUE
                WHEN 'NULL' THEN g.raw{{ c.at }} IS NULL
                ELSE u{{ c.at }}.label IS NOT NULL
            END
        , FALSE)
{% endfor %}
        THEN g.uncovered ELSE g.n END), 0) AS BIGINT) AS uncovered
FROM (
    SELECT
        COUNT(*) AS n
{% for c in columns if c.said %}
        , r._sqlanon_said{{ c.at }} AS said{{ c.at }}
        , {{ original(c) }} AS raw{{ c.at }}
{% endfor %}
        , SUM(CASE WHEN TRUE
{% for c in columns if not c.said %}
{% set raw = original(c) %}
{% set i = loop.index %}
            AND COALESCE(
                CASE r.{{ c.names.value | ident }} WHEN '*' THEN TRUE WHEN 'NULL' THEN {{ raw }} IS NULL
                    ELSE o{{ i }}.label IS NOT NULL
{% if not c.ranks %}
                        AND {{ raw }} >= CAST(o{{ i }}.low AS {{ c.type }})
                        AND {{ raw }} <= CAST(o{{ i }}.high AS {{ c.type }})
{% else %}
                        AND k{{ i }}.rank >= l{{ i }}.rank
                        AND k{{ i }}.rank <= h{{ i }}.rank
{% endif %}
                        END
            , FALSE)
{% endfor %}
            THEN 0 ELSE 1 END) AS uncovered
    FROM {{ classed | table }} AS s
    JOIN {{ claimed | table }} AS r ON r._sqlanon_class = s.class
{% for c in columns if not c.said %}
{% set i = loop.index %}
    LEFT JOIN {{ c.claims | table }} AS o{{ i }} ON o{{ i }}.label = r.{{ c.names.value | ident }}
{% if c.ranks %}
    LEFT JOIN {{ c.ranks | table }} AS k{{ i }} ON k{{ i }}.value = {{ original(c) }}
    LEFT JOIN {{ c.ranks | table }} AS l{{ i }} ON l{{ i }}.value = o{{ i }}.low
    LEFT JOIN {{ c.ranks | table }} AS h{{ i }} ON h{{ i }}.value = o{{ i }}.high
{% endif %}
{% endfor %}
{% for c in columns if c.said %}
    {{ "GROUP BY " if loop.first else ", " }}r._sqlanon_said{{ c.at }}, {{ original(c) }}
{% endfor %}
) AS g
{% for c in columns if c.said %}
JOIN {{ c.said | table }} AS t{{ c.at }} ON t{{ c.at }}.id = g.said{{ c.at }}
LEFT JOIN {{ c.claims | table }} AS u{{ c.at }} ON u{{ c.at }}.label = t{{ c.at }}.value
    AND {{ "CAST(u" ~ c.at ~ ".leaf AS " ~ c.type ~ ")" if c.kind == "tree" else "u" ~ c.at ~ ".member" }}
        = g.raw{{ c.at }}
{% endfor %}
