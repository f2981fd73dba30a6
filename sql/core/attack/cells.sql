-- name: attack/cells
-- params: cells (table to make), grouped (table), columns (list of {code, names: the published
--   columns of a quasi column}), values (list of {code, name: a sensitive column, domain (table of
--   code, value), as_float, as_text, nulls (bool: NULL is code 0)}), groups (list of {code, name})
-- returns: per quasi column its published columns; integers that are called _sqlanon_ and a code's name: per
--   quasi column the number of what it publishes, 0, 1, ..; per sensitive column the code of its value, a
--   negative number of it where the source has no such value; per group column its number; _sqlanon_n bigint
CREATE {{ cells | scratch }} AS
SELECT
{% for c in columns %}
    CAST(DENSE_RANK() OVER (
        ORDER BY {% for name in c.names %}{{ ", " if not loop.first }}t.{{ name | ident }} NULLS FIRST{% endfor %}
    ) - 1 AS INTEGER) AS _sqlanon_{{ c.code }}
    ,
{% for name in c.names %}
    t.{{ name | ident }} AS {{ name | ident }},
{% endfor %}
{% endfor %}
{% for v in values %}
    CAST(COALESCE(
        d{{ loop.index }}.code,
{% if v.nulls %}
        CASE WHEN t.{{ v.name | ident }} IS NULL THEN 0 END,
{% endif %}
        -DENSE_RANK() OVER (ORDER BY t.{{ v.name | ident }})
    ) AS INTEGER) AS _sqlanon_{{ v.code }}
    ,
{% endfor %}
{% for g in groups %}
    CAST(t.{{ g.name | ident }} AS INTEGER) AS _sqlanon_{{ g.code }},
{% endfor %}
    t._sqlanon_n AS _sqlanon_n
FROM {{ grouped | table }} AS t
{% for v in values %}
LEFT JOIN {{ v.domain | table }} AS d{{ loop.index }}
    ON d{{ loop.index }}.value
        = {{ "CAST(t.%s AS VARCHAR)" | format(v.name | ident) if v.as_text
            else "t." ~ (v.name | ident) ~ (" + 0" if v.as_float else "") }}
{% endfor %}
