-- name: verify/staged
-- params: classed, marks (tables), published (list of {source (r or s), column, as_text
--   (bool: see verify/fingerprint), kind}), dense (bool: the classes are 0, 1, 2, .., each once)
-- returns: n bigint, mark text: the fingerprint that the staged rows must leave in the
--   table (verify/fingerprint says how)
SELECT
    COUNT(*) AS n
    , CAST(COALESCE(SUM(
        CAST(
            {% block row %}HASH(
                r.mark
{% for c in published if c.source == "s" %}
                , {% block kept scoped %}s.{{ c.column | ident }}{% endblock %}

{% endfor %}
            ){% endblock %}

            AS HUGEINT
        )
    ), 0) AS VARCHAR) AS mark
FROM {{ classed | table }} AS s
JOIN {{ marks | table }} AS r ON r.class = s.class
