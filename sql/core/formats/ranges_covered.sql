-- name: formats/ranges_covered
-- params: classed, claimed (tables), contains (how the engine asks an array), columns (list of
--   {alias, kind, names, as_text, type, claims (table or none), ranks (table or none), said
--   (table or none), at, has (whether the released bits have the value of the row, or none)})
-- returns: n bigint (staged rows that reach the release), uncovered bigint (rows that what
--   is published for them does not cover)
-- Compares staged original values with released ones, by class; it knows nothing of codes
-- or methods. Beside NULLs (some) a value lies between the ends, where there are any.
-- claims says what a released node covers: (leaf, label). What sets and nodes say (said)
-- is compared once for every pair of it and an original value, not once a row.
{% macro any(c) %}
{% if c.kind == "ordered" %}
((r.{{ c.names.lo | ident }} IS NULL AND r.{{ c.names.hi | ident }} IS NULL) OR {{ original(c) }} IS NULL)
{% else %}
TRUE
{% endif %}
{% endmacro %}
{% macro original(c) %}{{ "CAST(s." ~ c.alias ~ " AS VARCHAR)" if c.as_text else "s." ~ c.alias }}{% endmacro %}
SELECT
    CAST(COALESCE(SUM(g.n), 0) AS BIGINT) AS n
    , CAST(COALESCE(SUM(CASE WHEN TRUE
{% for c in columns if c.said %}
{% set raw = "CAST(g.raw" ~ c.at ~ " AS VARCHAR)" if c.as_text else "g.raw" ~ c.at %}
        AND COALESCE(
            CASE
{% if c.names.null %}
                WHEN g.state{{ c.at }} = 'some' THEN TRUE WHEN g.state{{ c.at }} = 'all' THEN {{ raw }} IS NULL
{% else %}
                WHEN FALSE THEN TRUE
{% endif %}
                ELSE {{ contains % {"array": "t" ~ c.at ~ ".value", "value": raw} if c.kind == "set"
                    else "u" ~ c.at ~ ".label IS NOT NULL" }}
            END
        , FALSE)
{% endfor %}
        THEN g.uncovered ELSE g.n END), 0) AS BIGINT) AS uncovered
FROM (
    SELECT
        COUNT(*) AS n
{% for c in columns if c.said %}
        , r._sqlanon_said{{ c.at }} AS said{{ c.at }}
        , s.{{ c.alias }} AS raw{{ c.at }}
{% if c.names.null %}
        , r.{{ c.names.null | ident }} AS state{{ c.at }}
{% endif %}
{% endfor %}
        , SUM(CASE WHEN TRUE
{% for c in columns if not c.said %}
{% set raw = original(c) %}
{% set i = loop.index %}
            AND COALESCE(
                CASE
{% if c.names.null %}
                    WHEN r.{{ c.names.null | ident }} = 'some' AND {{ any(c) }} THEN TRUE
                    WHEN r.{{ c.names.null | ident }} = 'all' THEN {{ raw }} IS NULL
{% else %}
                    WHEN FALSE THEN TRUE
{% endif %}
                    ELSE
{% if c.has %}
                    {{ c.has }}
{% elif c.ranks %}
                    k{{ i }}.rank >= l{{ i }}.rank AND k{{ i }}.rank <= h{{ i }}.rank
{% else %}
                    {{ raw }} >= r.{{ c.names.lo | ident }} AND {{ raw }} <= r.{{ c.names.hi | ident }}
{% endif %}
                END
            , FALSE)
{% endfor %}
            THEN 0 ELSE 1 END) AS uncovered
    FROM {{ classed | table }} AS s
    JOIN {{ claimed | table }} AS r ON r._sqlanon_class = s.class
{% for c in columns if not c.said %}
{% set i = loop.index %}
{% if c.ranks %}
    LEFT JOIN {{ c.ranks | table }} AS k{{ i }} ON k{{ i }}.value = {{ original(c) }}
    LEFT JOIN {{ c.ranks | table }} AS l{{ i }} ON l{{ i }}.value = r.{{ c.names.lo | ident }}
    LEFT JOIN {{ c.ranks | table }} AS h{{ i }} ON h{{ i }}.value = r.{{ c.names.hi | ident }}
{% endif %}
{% endfor %}
{% for c in columns if c.said %}
    {{ "GROUP BY " if loop.first else ", " }}r._sqlanon_said{{ c.at }}, s.{{ c.alias }}
{% if c.names.null %}
    , r.{{ c.names.null | ident }}
{% endif %}
{% endfor %}
) AS g
{% for c in columns if c.said %}
JOIN {{ c.said | table }} AS t{{ c.at }} ON t{{ c.at }}.id = g.said{{ c.at }}
{% if c.claims %}
LEFT JOIN {{ c.claims | table }} AS u{{ c.at }} ON u{{ c.at }}.label = t{{ c.at }}.value
    AND CAST(u{{ c.at }}.leaf AS {{ c.type }})
        = {{ "CAST(g.raw" ~ c.at ~ " AS VARCHAR)" if c.as_text else "g.raw" ~ c.at }}
{% endif %}
{% endfor %}
