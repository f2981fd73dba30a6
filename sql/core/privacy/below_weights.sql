-- name: privacy/below_weights
-- params: made (table to make), rows (table), groups (columns), person, value (columns), count (column
--   with the number of rows that each represents, or none), unit (the weight of a person), p, q
-- returns: the columns of groups: every group in which a value weighs so much that its weight
--   times p exceeds the persons times unit times q. A person's part of a value is its rows with
--   the value by its rows in the group, rounded up. Its division is of whole numbers below 2 to
--   the power of 51 by others below 2 to the power of 31, so that doubles round it up rightly
{% macro columns(of) %}{% for name in groups %}{{ of }}.g{{ loop.index }}, {% endfor %}{% endmacro %}
{% macro groups_of(of) %}
{% for name in groups %}
{{ ", " if not loop.first }}{{ of }}.g{{ loop.index }}
{% endfor %}
{% endmacro %}
{% macro named() %}{% for name in groups %}t.{{ name | ident }} AS g{{ loop.index }}, {% endfor %}{% endmacro %}
{% macro members() %}
        SELECT
            {{ named() }}t.{{ person | ident }} AS person
            , {{ "SUM(t." ~ (count | ident) ~ ")" if count else "COUNT(*)" }} AS n
        FROM {{ rows | table }} AS t
        GROUP BY {% for name in groups %}t.{{ name | ident }}, {% endfor %}t.{{ person | ident }}
{% endmacro %}
CREATE {{ made | scratch }} AS
SELECT {% for name in groups %}{{ ", " if not loop.first }}w.g{{ loop.index }} AS {{ name | ident }}{% endfor %}

FROM (
    SELECT {{ columns("c") }}c.value AS value
        , SUM(-CAST(FLOOR(-CAST(c.n * {{ unit }} AS DOUBLE) / CAST(o.n AS DOUBLE)) AS BIGINT)) AS weight
    FROM (
        SELECT {{ named() }}t.{{ person | ident }} AS person, t.{{ value | ident }} AS value
            , {{ "SUM(t." ~ (count | ident) ~ ")" if count else "COUNT(*)" }} AS n
        FROM {{ rows | table }} AS t
        GROUP BY {% for name in groups %}t.{{ name | ident }}, {% endfor %}t.{{ person | ident }}, t.{{ value | ident }}
    ) AS c
    JOIN ({{ members() }} ) AS o ON
{% for name in groups %}
        o.g{{ loop.index }} = c.g{{ loop.index }} AND
{% endfor %}
        o.person = c.person
    GROUP BY {{ columns("c") }}c.value
) AS w
JOIN (
    SELECT {{ columns("p") }}COUNT(*) AS persons
    FROM ({{ members() }}    ) AS p
    GROUP BY {{ groups_of("p") }}
) AS m ON {% for name in groups %}{{ " AND " if not loop.first }}m.g{{ loop.index }} = w.g{{ loop.index }}{% endfor %}

GROUP BY {{ groups_of("w") }}
HAVING MAX(w.weight) * CAST({{ p }} AS BIGINT) > MAX(m.persons) * CAST({{ unit }} AS BIGINT) * {{ q }}
