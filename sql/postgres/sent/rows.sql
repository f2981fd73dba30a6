-- name: sent/rows
-- params: target (table), columns (list of {name, form (plain, fraction, float, day,
--   zoned, bytes or text), array (bool), width (characters of padded text, or 0)})
-- returns: every column as text, of arrays as a list of texts: texts that every engine reads as the same values
{% macro text(form, of, width) %}
{% if width %}RPAD(CAST({{ of }} AS text), {{ width }})
{% elif form == "float" %}CAST(CAST({{ of }} AS double precision) AS text)
{% elif form == "bytes" %}'\x' || ENCODE({{ of }}, 'hex')
{% else %}CAST({{ of }} AS text)
{% endif %}
{% endmacro %}
SELECT
{% for c in columns %}
    {{ ", " if not loop.first }}
{% if c.array %}
        CASE
            WHEN t.{{ c.name | ident }} IS NOT NULL
                THEN ARRAY(
                    SELECT {{ text(c.form, "u.e", c.width) }}
                    FROM UNNEST(t.{{ c.name | ident }}) WITH ORDINALITY AS u(e, o)
                    ORDER BY u.o
                )
        END
{% else %}
        {{ text(c.form, "t." ~ (c.name | ident), c.width) }}
{% endif %}
        AS c{{ loop.index0 }}
{% endfor %}
FROM {{ target | table }} AS t
