-- name: verify/population_people
-- params: people (table to make), stage (table of staged rows of a population), columns
--   (list of {alias, as_text, as_float})
-- returns: cell bigint, n bigint (rows), and per quasi column its value and a number of it
CREATE {{ people | scratch }} AS
SELECT
    ROW_NUMBER() OVER () AS cell
    , g.n AS n
{% for c in columns %}
    , g.{{ c.alias }} AS {{ c.alias }}
    , DENSE_RANK() OVER (ORDER BY g.{{ c.alias }}) AS seen{{ loop.index }}
{% endfor %}
FROM (
    SELECT COUNT(*) AS n{% for c in columns %}, b.{{ c.alias }} AS {{ c.alias }}{% endfor %}

    FROM (
        SELECT
{% for c in columns %}
            {{ ", " if not loop.first }}{{ "CAST(s." ~ c.alias ~ " AS VARCHAR)" if c.as_text
                else ("s." ~ c.alias ~ " + 0" if c.as_float else "s." ~ c.alias) }} AS {{ c.alias }}
{% endfor %}
        FROM {{ stage | table }} AS s
    ) AS b
    GROUP BY {% for c in columns %}{{ ", " if not loop.first }}b.{{ c.alias }}{% endfor %}

) AS g
