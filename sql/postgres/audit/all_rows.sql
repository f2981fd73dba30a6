-- name: audit/all_rows
SELECT
{% for c in columns %}
    {{ ", " if not loop.first }}
{% if c.as_text %}
        CAST(t.{{ c.name | ident }} AS TEXT)
{% else %}
        t.{{ c.name | ident }}
{% endif %}
        AS {{ c.name | ident }}
{% endfor %}
FROM {{ target | table }} AS t
