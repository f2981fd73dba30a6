-- name: privacy/below_values
-- params: made (table to make), rows (table), groups (columns), within (columns whose every combination
--   is looked at by itself), value (column), count (column with the number of rows that each
--   represents, or none), distinct (the fewest different values, or none), p, q (without distinct)
-- returns: the columns of groups: every group in which some combination of within has fewer different
--   values or, without distinct, a most frequent value whose rows times p exceed the rows times q
CREATE {{ made | scratch }} AS
SELECT DISTINCT
{% for name in groups %}
    {{ ", " if not loop.first }}f.g{{ loop.index }} AS {{ name | ident }}
{% endfor %}
FROM (
    SELECT
{% for name in groups + within %}
        {{ ", " if not loop.first }}v.g{{ loop.index }} AS g{{ loop.index }}
{% endfor %}
    FROM (
        SELECT
{% for name in groups + within %}
            t.{{ name | ident }} AS g{{ loop.index }},
{% endfor %}
            {{ "SUM(t." ~ (count | ident) ~ ")" if count else "COUNT(*)" }} AS n
        FROM {{ rows | table }} AS t
        GROUP BY {% for name in groups + within %}t.{{ name | ident }}, {% endfor %}t.{{ value | ident }}
    ) AS v
    GROUP BY {% for name in groups + within %}{{ ", " if not loop.first }}v.g{{ loop.index }}{% endfor %}

    HAVING
{% if distinct %}
        COUNT(*) < {{ distinct }}
{% else %}
        MAX(v.n) * CAST({{ p }} AS BIGINT) > SUM(v.n) * CAST({{ q }} AS BIGINT)
{% endif %}
) AS f
