-- name: publish/metadata
-- params: metadata (table to make), columns (list of (name, type))
-- returns: an empty metadata table: its rows are known when the release is verified
CREATE TABLE {{ metadata | table }} (
{% for name, type in columns %}
    {{ ", " if not loop.first }}{{ name | ident }} {{ type }}
{% endfor %}
)
