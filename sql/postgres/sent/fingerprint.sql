-- name: sent/fingerprint
-- params: target (table), columns (list of {name, form (plain, fraction, float, day,
--   zoned, bytes or text), array (bool), width (characters of padded text, or 0)})
-- returns: n bigint, mark text: two sums of 60 bits of each row's SHA-256, equal on all
--   engines for equal multisets of rows
-- An array of several dimensions is sent as a list: its hash has their number, so that the rows differ.
{% macro text(form, of, width) %}
{% if width %}RPAD(CAST({{ of }} AS text), {{ width }})
{% elif form == "float" %}
CASE
    WHEN CAST({{ of }} AS double precision) = 'NaN' THEN 'NaN'
    ELSE CAST(CAST('x' || ENCODE(float8send(CAST({{ of }} AS double precision)), 'hex') AS bit(64)) AS text)
END
{% elif form == "bytes" %}'\x' || ENCODE({{ of }}, 'hex')
{% else %}CAST({{ of }} AS text)
{% endif %}
{% endmacro %}
{% macro marked(form, of, width) %}
COALESCE(
{% if form == "text" %}
    CAST(LENGTH({{ text(form, of, width) }}) AS text) || ':' ||
{% endif %}
    {{ text(form, of, width) }}
    , 'N'
)
{% endmacro %}
SELECT
    COUNT(*) AS n
    , CAST(COALESCE(SUM(CAST(CAST('x0' || SUBSTR(h.mark, 1, 15) AS bit(64)) AS bigint)), 0) AS text)
        || ' '
        || CAST(COALESCE(SUM(CAST(CAST('x0' || SUBSTR(h.mark, 16, 15) AS bit(64)) AS bigint)), 0) AS text) AS mark
FROM (
    SELECT
        ENCODE(SHA256(CONVERT_TO(
{% for c in columns %}
            {{ " || ';' || " if not loop.first }}
{% if c.array %}
                CASE
                    WHEN t.{{ c.name | ident }} IS NULL THEN 'N'
                    ELSE '['
                        || COALESCE(CAST(NULLIF(ARRAY_NDIMS(t.{{ c.name | ident }}), 1) AS text) || '#', '')
                        || COALESCE((
                            SELECT STRING_AGG({{ marked(c.form, "u.e", c.width) }}, ',' ORDER BY u.o)
                            FROM UNNEST(t.{{ c.name | ident }}) WITH ORDINALITY AS u(e, o)
                        ), '')
                        || ']'
                END
{% else %}
                {{ marked(c.form, "t." ~ (c.name | ident), c.width) }}
{% endif %}
{% endfor %}
            , 'UTF8'
        )), 'hex') AS mark
    FROM {{ target | table }} AS t
) AS h
