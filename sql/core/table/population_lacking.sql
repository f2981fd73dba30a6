-- name: table/population_lacking
-- params: stage, people (tables of staged rows), columns (list of {alias, as_text, as_float})
-- returns: cells bigint, lacking bigint: combinations of values that the source has more
--   often than the population, and by how many rows
SELECT COUNT(*) AS cells, CAST(COALESCE(SUM(g.more), 0) AS BIGINT) AS lacking
FROM (
    SELECT SUM(b.one) AS more
    FROM (
{% for table in (stage, people) %}
{{ "        UNION ALL" if not loop.first }}
        SELECT
{% for c in columns %}
            {{ "CAST(s." ~ c.alias ~ " AS VARCHAR)" if c.as_text else ("s." ~ c.alias ~ " + 0" if c.as_float
                else "s." ~ c.alias) }} AS {{ c.alias }}
            ,
{% endfor %}
            {{ "1" if loop.first else "-1" }} AS one
        FROM {{ table | table }} AS s
{% endfor %}
    ) AS b
    GROUP BY {% for c in columns %}{{ ", " if not loop.first }}b.{{ c.alias }}{% endfor %}

    HAVING SUM(b.one) > 0
) AS g
