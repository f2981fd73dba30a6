-- name: verify/covering
-- params: classed, released (tables), format (ranges, labels or suppressed), contains (how the engine asks an array), columns
--   (list of {alias, kind, names, as_text, type, claims (table or none), ranks (table or none)})
-- returns: n bigint (staged rows that reach the release), uncovered bigint (rows that what is published for them does not cover)
-- Compares staged original values with released ones, by the private row id; it knows nothing of codes or methods.
-- claims says what a released text stands for: (leaf, label) of a hierarchy, (low, high, label) or (member, label) read back from labels.
SELECT
    COUNT(*) AS n
    , CAST(COALESCE(SUM(CASE WHEN TRUE
{% for c in columns %}
{% set raw = "CAST(s." ~ c.alias ~ " AS VARCHAR)" if c.as_text else "s." ~ c.alias %}
{% set i = loop.index %}
        AND COALESCE(
{% if format == "suppressed" %}
            CASE WHEN {{ "r." ~ (c.names.suppressed | ident) if c.names.suppressed else "r." ~ (c.names.value | ident) ~ " IS NULL" }}
                THEN r.{{ c.names.value | ident }} IS NULL
                ELSE {{ "CAST(r." ~ (c.names.value | ident) ~ " AS VARCHAR)" if c.as_text else "r." ~ (c.names.value | ident) }} IS NOT DISTINCT FROM {{ raw }} END
{% elif format == "labels" %}
            CASE r.{{ c.names.value | ident }} WHEN '*' THEN TRUE WHEN 'NULL' THEN {{ raw }} IS NULL
                ELSE u{{ i }}.label IS NOT NULL{% if c.kind == "ordered" and not c.ranks %} AND {{ raw }} >= CAST(u{{ i }}.low AS {{ c.type }}) AND {{ raw }} <= CAST(u{{ i }}.high AS {{ c.type }}){% endif %}{% if c.ranks %} AND k{{ i }}.rank >= l{{ i }}.rank AND k{{ i }}.rank <= h{{ i }}.rank{% endif %} END
{% else %}
            CASE {% if c.names.null %}WHEN r.{{ c.names.null | ident }} = 'some' THEN TRUE WHEN r.{{ c.names.null | ident }} = 'all' THEN {{ raw }} IS NULL {% else %}WHEN FALSE THEN TRUE {% endif %}ELSE
{% if c.ranks %}
                k{{ i }}.rank >= l{{ i }}.rank AND k{{ i }}.rank <= h{{ i }}.rank
{% elif c.kind == "ordered" %}
                {{ raw }} >= r.{{ c.names.lo | ident }} AND {{ raw }} <= r.{{ c.names.hi | ident }}
{% elif c.kind == "set" %}
                {{ contains % {"array": "r." ~ (c.names.value | ident), "value": raw} }}
{% else %}
                u{{ i }}.label IS NOT NULL
{% endif %}
            END
{% endif %}
        , FALSE)
{% endfor %}
        THEN 0 ELSE 1 END), 0) AS BIGINT) AS uncovered
FROM {{ classed | table }} AS s
JOIN {{ released | table }} AS r ON r._sqlanon_class = s.class
{% for c in columns %}
{% set raw = "CAST(s." ~ c.alias ~ " AS VARCHAR)" if c.as_text else "s." ~ c.alias %}
{% set i = loop.index %}
{% if c.claims %}
LEFT JOIN {{ c.claims | table }} AS u{{ i }} ON u{{ i }}.label = r.{{ c.names.value | ident }}
{% if c.kind == "tree" %}
    AND CAST(u{{ i }}.leaf AS {{ c.type }}) = {{ raw }}
{% elif c.kind == "set" %}
    AND u{{ i }}.member = {{ raw }}
{% endif %}
{% endif %}
{% if c.ranks %}
LEFT JOIN {{ c.ranks | table }} AS k{{ i }} ON k{{ i }}.value = {{ raw }}
LEFT JOIN {{ c.ranks | table }} AS l{{ i }} ON l{{ i }}.value = {{ "u" ~ i ~ ".low" if format == "labels" else "r." ~ (c.names.lo | ident) }}
LEFT JOIN {{ c.ranks | table }} AS h{{ i }} ON h{{ i }}.value = {{ "u" ~ i ~ ".high" if format == "labels" else "r." ~ (c.names.hi | ident) }}
{% endif %}
{% endfor %}
