-- name: refresh/fingerprint
-- params: source (table), columns (list of {name, as_text, listed (bool: an enum), kind},
--   at least one), texts (text columns)
-- returns: n bigint, mark text: a sum of row hashes that differ from installation to installation (:secret);
--   equal for equal multisets of rows; then for every text column the length of all its values, bigint
SELECT
    COUNT(*) AS n
    , CAST(COALESCE(SUM(CAST(
        {% block row %}HASH(
            :secret
{% for c in columns %}
            , {% block value scoped %}
{{ "CAST(s." ~ (c.name | ident) ~ " AS VARCHAR)" if c.listed else "s." ~ (c.name | ident) }}{% endblock %}

{% endfor %}
        ){% endblock %}

        AS HUGEINT
    )), 0) AS VARCHAR) AS mark
{% for text in texts %}
    , CAST(COALESCE(SUM(LENGTH(s.{{ text | ident }})), 0) AS BIGINT) AS c{{ loop.index }}
{% endfor %}
FROM {{ source | table }} AS s
