-- name: loss/ambiguity
-- params: cells (table), columns (code columns), exact (bool: every product fits a double)
-- returns: one double: the sum over rows of the product of the values in their cells; larger products count as e^700
SELECT
    CAST(COALESCE(SUM(
        CAST(c.n AS DOUBLE) *
{% if exact %}
            {% for code in columns %}{{ " * " if not loop.first }}CAST(c.size_{{ code }} AS DOUBLE){% endfor %}
{% else %}
            EXP(LEAST(
                {% for code in columns %}{{ " + " if not loop.first }}LN(CAST(c.size_{{ code }} AS DOUBLE)){% endfor %}
                , CAST(700 AS DOUBLE)
            ))
{% endif %}
    ), 0) AS DOUBLE) AS combinations
FROM {{ cells | table }} AS c
