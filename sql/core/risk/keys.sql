-- name: risk/keys
-- params: target (table), classes (at least one {name, place, starred}: a column, its number, whether * is a wildcard
--   as well), combinations (table of risk/combinations that holds these columns, or none: they are grouped here)
-- returns: one bigint per column (0: NULL or *, else the number of the value), n bigint
--   (rows with these values); of `combinations` in the order of its rows
-- A join with the different values of a column, few as they mostly are, takes less than to sort all rows by it.
{% if not combinations %}
WITH grouped AS MATERIALIZED (
    SELECT {% for one in classes %}t.{{ one.name | ident }} AS g{{ one.place }}, {% endfor %}COUNT(*) AS n
    FROM {{ target | table }} AS t
    GROUP BY {% for one in classes %}{{ ", " if not loop.first }}t.{{ one.name | ident }}{% endfor %}

)
{% endif %}
SELECT
{% for one in classes %}
{% if one.starred %}
    CASE WHEN CAST(k.g{{ one.place }} AS VARCHAR) = '*' THEN 0 ELSE COALESCE(d{{ one.place }}.number, 0) END
{% else %}
    COALESCE(d{{ one.place }}.number, 0)
{% endif %}
    AS c{{ one.place }}
    ,
{% endfor %}
    k.n AS n
FROM {{ combinations | table if combinations else "grouped" }} AS k
{% for one in classes %}
LEFT JOIN (
    SELECT u.value AS value, ROW_NUMBER() OVER () AS number
    FROM (
        SELECT DISTINCT s.g{{ one.place }} AS value
        FROM {{ combinations | table if combinations else "grouped" }} AS s
        WHERE s.g{{ one.place }} IS NOT NULL
    ) AS u
) AS d{{ one.place }} ON d{{ one.place }}.value = k.g{{ one.place }}
{% endfor %}
{% if combinations %}
ORDER BY k.number
{% endif %}
