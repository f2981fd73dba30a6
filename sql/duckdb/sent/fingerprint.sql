-- name: sent/fingerprint
-- params: target (table), columns (list of {name, form (plain, fraction, float, day,
--   zoned, bytes or text), array (bool), width (characters of padded text, or 0)})
-- returns: n bigint, mark text: two sums of 60 bits of each row's SHA-256, equal on all
--   engines for equal multisets of rows
-- A row is hashed as the texts of its values, those of text with their lengths; floats by
-- their bits, as engines write them differently; DuckDB writes .5 for 0.5.
{% macro text(form, of) %}
{% if form == "float" %}
CASE WHEN ISNAN(CAST({{ of }} AS DOUBLE)) THEN 'NaN' ELSE CAST(CAST(CAST({{ of }} AS DOUBLE) AS BIT) AS VARCHAR) END
{% elif form == "day" %}
CASE
    WHEN CAST({{ of }} AS VARCHAR) LIKE '% (BC)%' THEN REPLACE(CAST({{ of }} AS VARCHAR), ' (BC)', '') || ' BC'
    ELSE CAST({{ of }} AS VARCHAR)
END
{% elif form == "zoned" %}
CASE
    WHEN NOT ISFINITE({{ of }}) THEN CAST({{ of }} AS VARCHAR)
    WHEN CAST(MAKE_TIMESTAMP(EPOCH_US({{ of }})) AS VARCHAR) LIKE '% (BC)%'
        THEN REPLACE(CAST(MAKE_TIMESTAMP(EPOCH_US({{ of }})) AS VARCHAR), ' (BC)', '')
        || '+00 BC'
    ELSE CAST(MAKE_TIMESTAMP(EPOCH_US({{ of }})) AS VARCHAR) || '+00'
END
{% elif form == "fraction" %}REGEXP_REPLACE(CAST({{ of }} AS VARCHAR), '^(-?)[.]', '\10.')
{% elif form == "bytes" %}'\x' || LOWER(HEX({{ of }}))
{% else %}CAST({{ of }} AS VARCHAR)
{% endif %}
{% endmacro %}
{% macro marked(form, of) %}
COALESCE(
    {% if form == "text" %}CAST(LENGTH({{ text(form, of) }}) AS VARCHAR) || ':' || {% endif %}{{ text(form, of) }}
    , 'N'
)
{% endmacro %}
SELECT
    COUNT(*) AS n
    , CAST(COALESCE(SUM(CAST(CAST('0x' || SUBSTR(h.mark, 1, 15) AS BIGINT) AS HUGEINT)), 0) AS VARCHAR)
        || ' '
        || CAST(COALESCE(SUM(CAST(CAST('0x' || SUBSTR(h.mark, 16, 15) AS BIGINT) AS HUGEINT)), 0) AS VARCHAR) AS mark
FROM (
    SELECT
        SHA256(CONCAT(
{% for c in columns %}
            {{ ", ';', " if not loop.first }}
{% if c.array %}
                CASE
                    WHEN t.{{ c.name | ident }} IS NULL THEN 'N'
                    ELSE '[' || COALESCE(ARRAY_TO_STRING(
                        LIST_TRANSFORM(t.{{ c.name | ident }}, LAMBDA e: {{ marked(c.form, "e") }}), ','
                    ), '') || ']'
                END
{% else %}
                {{ marked(c.form, "t." ~ (c.name | ident)) }}
{% endif %}
{% endfor %}
        )) AS mark
    FROM {{ target | table }} AS t
) AS h
