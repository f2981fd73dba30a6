-- name: verify/fingerprint
-- params: target (table), published (list of {source (r or s), name, as_text (bool: its
--   type has operators of its own), kind})
-- returns: n bigint, mark text: a sum of row hashes, equal for equal multisets of rows:
--   hash(hash(class columns), kept columns)
SELECT
    COUNT(*) AS n
    , CAST(COALESCE(SUM(CAST(
        {% block row %}HASH(
            HASH(
{% for c in published if c.source == "r" %}
                {{ ", " if not loop.first }}t.{{ c.name | ident }}
{% endfor %}
            )
{% for c in published if c.source == "s" %}
            , {% block kept scoped %}t.{{ c.name | ident }}{% endblock %}

{% endfor %}
        ){% endblock %}

        AS HUGEINT
    )), 0) AS VARCHAR) AS mark
FROM {{ target | table }} AS t
